"""The first-runs study: five tasks, built by the `chatdev` company with the local model and tried as a user would."""
