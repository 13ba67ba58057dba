"""Pages of the web view in a browser: opened, and looked through by axe-core."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

from tests.support.viewer import Viewer

AXE = Path(__file__).parents[1] / "web" / "vendor" / "axe-4.14.1.min.js"


def open_at(page: Page, viewer: Viewer, path: str) -> None:
    """Open a page of the server, and wait for its heading."""
    page.goto(f"http://127.0.0.1:{viewer.port}{path}")
    page.wait_for_selector("main h1")


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong. The context bypasses the policy, which lets no script of others in."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in found["violations"]
            for node in one["nodes"]]
