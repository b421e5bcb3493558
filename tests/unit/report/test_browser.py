"""The page in a browser: on a desk, a phone and paper, light and dark, with everything opened."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
browser = pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")

AUDIT = Path(__file__).with_name("audit.js").read_text(encoding="utf-8")
FRAME = """<!doctype html>
<iframe src="{page}" width="{width}" height="900" style="border:0"></iframe>
<pre></pre><script>
addEventListener("message", e => {{ document.querySelector("pre").textContent = e.data; }});
</script>"""


def look(folder, width, medium):
    """Return what the audit finds in a copy of a page that may run scripts.

    Args:
        folder: of the page.
        width: of the window, pixels.
        medium: light, dark or print.
    """
    text = (folder / "index.html").read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", text)
    asked = {"dark": r"@media \(prefers-color-scheme: ?dark\)", "print": "@media print"}
    if medium in asked:  # as the reader's setting, or the printer, would
        text = re.sub(asked[medium], "@media all", text)
    text = re.sub(r"--w:[\d.]+", "--w:1", text)  # the deepest tint of a cell
    text = text.replace(
        "</body>", f"<script>const PAPER = {json.dumps(medium == 'print')};{AUDIT}</script></body>"
    )
    page, frame = folder / "audited.html", folder / "frame.html"
    page.write_text(text, encoding="utf-8")
    frame.write_text(FRAME.format(page=page.name, width=width), encoding="utf-8")
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
        f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=20000",
        "--window-size=1500,1000", frame.as_uri(),
    ]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=180, check=True).stdout
    report = re.search(r"<pre>(.*?)</pre>", shown, re.S)[1]
    return json.loads(report.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


@browser
@pytest.mark.parametrize(("width", "medium"), [(1400, "light"), (390, "dark"), (1000, "print")])
def test_the_page_fits_and_can_be_read(printed, width, medium):
    report = look(printed, width, medium)
    assert width - 20 < report["width"] <= width and report["texts"] > 500  # less a scroll bar
    assert report["wide"] == [], "wider than the window"
    assert report["pale"] == [], "contrast below WCAG AA"
    assert report["dead"] == [], "links to places that are not on the page"
