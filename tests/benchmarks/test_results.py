from benchmarks.engine import raw


def test_the_page_of_results_is_what_the_raw_results_give() -> None:
    assert raw.PAGE.read_text(encoding="utf-8") == raw.render_page()
