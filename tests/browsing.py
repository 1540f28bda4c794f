"""What tests of pages in a browser share."""


def settle(page):
    """Wait until what was asked for has been drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def set_step(page, step):
    page.get_by_label("Threshold", exact=True).fill(str(step))
    settle(page)
