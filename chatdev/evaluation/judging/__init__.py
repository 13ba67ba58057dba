"""Judges that compare what two companies made for the same task (ChatDev, ACL 2024, table 2)."""
