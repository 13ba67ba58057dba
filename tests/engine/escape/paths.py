"""Names of files that a hostile reply may give."""

from __future__ import annotations

LEAVING = [
    "../escaped.py", "a/../../escaped.py", "./../escaped.py", "..\\..\\escaped.py", "....//....//escaped.py",
    "/tmp/chatdev-escaped.py", "/proc/self/cwd/escaped.py", "//tmp/chatdev-escaped.py", "~/escaped.py",
    "~root/escaped.py", "C:\\Windows\\escaped.py", "C:escaped.py", "\\\\server\\share\\escaped.py",
    "file:///tmp/chatdev-escaped.py", "../run/journal.jsonl", "../run/company.yaml",
]
METADATA = [
    ".git/hooks/pre-commit", ".git/config", ".git/info/attributes", ".GIT/config", "sub/.git/config",
    "\uff0egit/config", ".g\u200cit/config", ".\u0456it/../.git/config", "GIT~1/config", ".git./config", ".git /config",
    ".git::$INDEX_ALLOCATION/config", ".git\\config", "./.git/HEAD",
]
DECEIVING = [
    "main.py\0.txt", "main\u202eyp.py", "ma\u200bin.py", "main.py\r../escaped.py", "\x1b]0;owned\x07main.py",
    "\u2025/escaped.py", "\u2024\u2024/escaped.py", "..\u2215escaped.py", "..\uff0fescaped.py", "main.py:stream",
    "main.py.", "main.py ", "-rf.py", "--help.py", "sub/-c.py", "*.py", "|id.py", 'ma"in.py', "a<b>.py",
]
IMPOSSIBLE = [
    "con.py", "AUX.txt", "nul.py", "COM1.py", "lpt\u00b9.py", "a" * 300 + ".py", "/".join("a" * 17) + ".py",
    "/".join(["b" * 200] * 6) + ".py", "..", ".", "/", "sub/", "",
]
ACTING = [
    ".gitmodules", "sub/.GITMODULES", ".envrc", "sub/dir/.EnvRC", ".vscode/tasks.json", "sub/.VSCode/settings.json",
    ".vscode\\tasks.json", "./.vscode/mcp.json", "my.code-workspace", ".idea/workspace.xml", ".hg/hgrc", "a/.SVN/wc.db",
    ".bzr/branch/branch.conf", "_darcs/prefs/prefs", ".dir-locals.el", "sub/.exrc", ".vimrc", ".NVIMRC", ".lvimrc",
    ".mise.toml", "mise.toml", ".rvmrc", ".gdbinit", ".Rprofile", ".claude/settings.json", ".cursor/mcp.json",
    ".mcp.json", "desktop.ini", "Desktop.INI", "autorun.inf", "notes.lnk", "site.url", "venv/pyvenv.cfg",
    "AGENTS.md", "sub/agents.md", "CLAUDE.md", "claude.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules",
    ".clinerules/a.md", ".github/copilot-instructions.md", ".github/instructions/a.instructions.md",
    ".devcontainer/devcontainer.json", ".devcontainer.json", ".junie/guidelines.md",
    "\uff0eenvrc", ".vscode./tasks.json",
]
"""What acts without anybody starting it; the last two are refused as other spellings."""
HARMLESS = {
    "%2e%2e/escaped.py": "no address: nothing is decoded", "$HOME/escaped.py": "no shell: nothing is expanded",
    ".gitattributes": "never obeyed", ".gitignore": "never obeyed",
}
