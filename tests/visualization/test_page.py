"""The web page: as Streamlit's own tests see it, and in a real browser."""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from base64 import b64decode
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree

import pytest
import spacy
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc
from spacy.util import is_package
from typer.testing import CliRunner

import spacy_pointparse.visualization.page
from spacy_pointparse import render
from spacy_pointparse.cli import app
from spacy_pointparse.tokens import set_constituents
from spacy_pointparse.trees import read_trees

ROOT = Path(__file__).parents[2]
SCRIPT = Path(spacy_pointparse.visualization.page.__file__).with_name("app.py")
BOAT = "She sold the old boat with a red sail ."
OTTER = "The otter sleeps ."
BOAT_TREE = (
    "(S (NP (PRP She)) (VP (VBD sold) (NP (NP (DT the) (JJ old) (NN boat)) "
    "(PP (IN with) (NP (DT a) (JJ red) (NN sail))))) (. .))"
)
OTTER_TREE = "(S (NP (DT The) (NN otter)) (VP (VBZ sleeps)) (. .))"
# What would run, or load, if it were taken for markup.
EVIL = (
    "<script>document.title='ran'</script>",
    "<img/src=x/onerror=document.title='ran'>",
    "</text></svg><svg/onload=document.title='ran'>",
    "\"onload=\"document.title='ran'",
)


@pytest.fixture(scope="module")
def model(trained_path, tmp_path_factory):
    """The tiny parser behind a sentencizer, where each blank parts two words."""
    nlp = spacy.blank("en")
    nlp.tokenizer = Tokenizer(nlp.vocab)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("pointing_parser", source=spacy.load(trained_path))
    nlp.meta["description"] = "Knows *some* trees."
    path = tmp_path_factory.mktemp("model")
    nlp.to_disk(path)
    return path


@pytest.fixture
def page():
    """The module of the page, with nothing loaded or parsed."""
    pytest.importorskip("streamlit", reason="the page needs Streamlit")
    from spacy_pointparse.visualization.page import content as page

    page.load_pipeline.cache_clear()
    page.parse.cache_clear()
    return page


@pytest.fixture
def show(page, monkeypatch):
    """Show the page, and type a text."""
    from streamlit.testing.v1 import AppTest

    def show(model, text=None):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(model)])
        shown = AppTest.from_file(SCRIPT, default_timeout=120).run()
        if text is not None:
            shown.text_area[0].set_value(text).run()
        assert not shown.exception
        return shown

    return show


def read_svg(source):
    return b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode()


def read_pictures(element):
    """The texts of the trees that are shown, and the HTML of what else is drawn."""
    figures = [html.proto.body for html in element.get("html")]
    images = [re.search('src="(.+?)"', figure) for figure in figures]
    svgs = [read_svg(image[1]) for image in images if image]
    words = [" ".join(ElementTree.fromstring(svg).itertext()).split() for svg in svgs]
    return words, [html for html, image in zip(figures, images) if not image]


def read_table(element):
    return [
        (row["text"], row["label"], row["start_char"], row["end_char"])
        for row in element.dataframe[0].value.to_dict("records")
    ]


# --- the page ---


def test_page_shows_the_trees_of_the_sentences(show, model):
    shown = show(model, f"{BOAT} {OTTER}")
    words, _ = read_pictures(shown.tabs[0])
    assert [" ".join(tree) for tree in words] == [
        re.sub(r"[()]", "", tree) for tree in (BOAT_TREE, OTTER_TREE)
    ]
    assert not shown.error


def test_page_says_what_it_is(show, model):
    shown = show(model)
    assert shown.title[0].value == "Constituency parsing by pointing"
    assert shown.sidebar.text[0].value == f"{model} v0.0.0"
    assert shown.sidebar.caption[0].value == r"Knows \*some\* trees\."
    assert shown.text_area[0].value


def test_page_lets_wide_trees_scroll_at_their_size(show, model):
    shown = show(model, BOAT)
    (figure,) = (html.proto.body for html in shown.tabs[0].get("html"))
    assert re.match('<div style="overflow-x: auto"><img [^>]*max-width: none', figure)


def test_page_highlights_constituents_by_label(show, model):
    tab = show(model, f"{BOAT} {OTTER}").tabs[1]
    assert tab.multiselect[0].value == ["NP", "S", "VP", "PP"]
    assert len(read_table(tab)) == 10
    tab = tab.multiselect[0].set_value(["VP", "PP"]).run().tabs[1]
    assert read_table(tab) == [
        ("sold the old boat with a red sail", "VP", 4, 37),
        ("with a red sail", "PP", 22, 37),
        ("sleeps", "VP", 50, 56),
    ]
    _, (html,) = read_pictures(tab)
    assert re.findall(r"-->(\w+)<", html.replace("\n", "").replace(" ", "")) == [
        *("VP", "PP", "VP")
    ]
    tab = tab.multiselect[0].set_value([]).run().tabs[1]
    assert not tab.dataframe and not tab.get("html")


def test_page_finds_constituents_by_pattern(show, model):
    tab = show(model, f"{OTTER} {BOAT}").tabs[2]
    assert read_table(tab) == [("the old boat with a red sail", "NP", 28, 56)]
    tab = tab.text_input[0].set_value("/^VB/ > VP").run().tabs[2]
    assert read_table(tab) == [("sleeps", "VBZ", 10, 16), ("sold", "VBD", 23, 27)]
    _, (html,) = read_pictures(tab)
    assert "VBZ" in html and "VBD" in html and "NP" not in html
    tab = tab.text_input[0].set_value("NP << boat").run().tabs[2]
    _, (html,) = read_pictures(tab)
    assert "boat" in html and "otter" not in html
    tab = tab.text_input[0].set_value("ADVP").run().tabs[2]
    assert not tab.dataframe and tab.text[0].value == "Constituents: 0"


def test_page_describes_constituents(show, model):
    (row,) = show(model, BOAT).tabs[2].dataframe[0].value.to_dict("records")
    assert row["meaning"] == "noun phrase"
    assert 0 < row["probability"] <= 1


def test_page_says_what_is_wrong_with_a_pattern(show, model):
    shown = show(model, BOAT)
    shown = shown.tabs[2].text_input[0].set_value("NP < (`*$..[").run()
    (error,) = shown.tabs[2].error
    assert shown.error.len == 1
    assert r"NP \< \(\`\*\$\.\.\[" in error.value
    assert "unexpected" in error.value
    assert not shown.exception
    assert len(read_pictures(shown.tabs[0])[0]) == 1


def test_page_offers_brackets_and_picture(show, model, monkeypatch, tmp_path):
    from streamlit.delta_generator import DeltaGenerator

    files = {}

    def offer(self, label, data, file_name, mime):
        files[file_name] = data

    monkeypatch.setattr(DeltaGenerator, "download_button", offer)
    show(model, f"{BOAT} {OTTER}")
    assert files["trees.mrg"] == f"{BOAT_TREE}\n{OTTER_TREE}\n"
    path = tmp_path / "trees.mrg"
    path.write_text(files["trees.mrg"], encoding="utf8")
    assert len(list(read_trees(path))) == 2
    svg = ElementTree.fromstring(files["trees.svg"])
    assert {"sail", "otter"} <= {text.strip() for text in svg.itertext()}


def test_page_draws_so_many_sentences(show, page, model, monkeypatch):
    monkeypatch.setattr(page, "MAX_SENTENCES", 2)
    shown = show(model, f"{BOAT} {OTTER} {BOAT}")
    assert len(read_pictures(shown.tabs[0])[0]) == 2
    assert "Showing 2 of 3 sentences" in shown.tabs[0].caption[0].value
    tab = shown.tabs[2].text_input[0].set_value("PRP").run().tabs[2]
    assert len(read_table(tab)) == 2
    assert read_pictures(tab)[1][0].count("boat") == 2


@pytest.mark.parametrize("text", ["", "  \n "])
def test_page_without_a_text(show, model, text):
    shown = show(model, text)
    assert shown.info[0].value == "Type a text above."
    assert not shown.error and not shown.tabs


def test_page_escapes_words(show, model):
    shown = show(model, " ".join(EVIL))
    figures = [html.proto.body for html in shown.get("html")]
    assert len(figures) == 2  # a tree, and spans, of which none matches the pattern
    for figure in figures:
        assert "&lt;script&gt;document" in figure
        assert not re.search('<script|<img/|<svg/|"onload', figure)


def test_page_without_its_pipeline(show):
    shown = show("no_such_model")
    assert "no\\_such\\_model" in shown.error[0].value
    assert not shown.text_area


def test_page_of_a_pipeline_without_a_parser(show, tmp_path):
    spacy.blank("en").to_disk(tmp_path)
    shown = show(tmp_path, BOAT)
    assert "no constituency parse" in shown.error[0].value
    assert not shown.tabs


def test_page_of_a_text_that_fails(show, page, model):
    page.load_pipeline(str(model)).max_length = 10
    shown = show(model, BOAT)
    assert "The pipeline failed on this text" in shown.error[0].value
    shown.text_area[0].set_value("Yes").run()
    assert not shown.error and len(read_pictures(shown.tabs[0])[0]) == 1


def test_page_without_svgling(show, model, monkeypatch):
    for name in ("svgling", "svgling.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    shown = show(model, BOAT)
    assert "pip install" in shown.tabs[0].error[0].value
    assert [button.label for button in shown.get("download_button")] == [
        "Download brackets (.mrg)"
    ]
    assert not shown.tabs[1].error and read_table(shown.tabs[1])


def test_page_parses_one_text_at_a_time(page, model, monkeypatch):
    inside, most = [], []

    def parse_texts(nlp, texts):
        inside.append(nlp)
        time.sleep(0.05)
        most.append(len(inside))
        inside.pop()
        return [nlp.make_doc(text) for text in texts]

    monkeypatch.setattr(page, "parse_texts", parse_texts)
    threads = [Thread(target=page.parse, args=(str(model), text)) for text in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1]


def test_page_parses_a_text_once(page, model, monkeypatch, show):
    texts = []
    parse_texts = page.parse_texts

    def count(nlp, given):
        texts.extend(given)
        return parse_texts(nlp, given)

    monkeypatch.setattr(page, "parse_texts", count)
    shown = show(model, BOAT)
    shown.tabs[2].text_input[0].set_value("VP").run()
    assert texts.count(BOAT) == 1


# --- the command ---


@pytest.fixture
def run(page, monkeypatch):
    """Run the command, and say what Streamlit was to run, and in which environment."""
    from streamlit.web import cli

    def run(*arguments):
        calls = []
        environment = dict(os.environ)
        monkeypatch.setattr(
            cli, "main", lambda words: calls.append((words, dict(os.environ)))
        )
        monkeypatch.setattr(os, "environ", environment)
        result = CliRunner().invoke(app, ["demo", *map(str, arguments)])
        return result, calls

    return run


def test_demo_runs_the_page(run, model):
    result, [(words, environment)] = run(model)
    assert (result.exit_code, result.output) == (0, "")
    assert words == ["run", str(SCRIPT), "--", str(model)]
    assert environment["STREAMLIT_SERVER_ADDRESS"] == "localhost"
    assert environment["STREAMLIT_BROWSER_GATHER_USAGE_STATS"] == "false"


def test_demo_takes_a_port(run, model):
    _, [(words, _)] = run(model, "--port", 8600)
    assert words[2:4] == ["--server.port", "8600"]
    result, calls = run(model, "--port", 0)
    assert result.exit_code == 2 and not calls


def test_demo_heeds_the_environment(run, model, monkeypatch):
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    _, [(_, environment)] = run(model)
    assert environment["STREAMLIT_SERVER_ADDRESS"] == "0.0.0.0"


def test_demo_has_loaded_the_pipeline(run, page, model):
    run(model)
    assert page.load_pipeline.cache_info().currsize == 1


def test_demo_without_its_pipeline(run):
    result, calls = run("no_such_model")
    assert result.exit_code == 1 and not calls
    assert re.fullmatch("Error: .*no_such_model.*\n", result.stderr)


def test_demo_without_streamlit(monkeypatch):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    result = CliRunner().invoke(app, ["demo"])
    assert result.exit_code == 1
    assert result.stderr == (
        'Error: The page needs Streamlit: pip install "spacy-pointparse[demo]".\n'
    )


# --- documentation ---


@pytest.mark.parametrize("name", ["README.md", "docs/demo.md"])
def test_demo_runs_as_documented(run, model, name):
    text = (ROOT / name).read_text(encoding="utf8")
    commands = re.findall("^python -m spacy_pointparse demo(.*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        words = shlex.split(command.replace("training/model-best", str(model)), True)
        if str(model) in words or is_package("en_pointparse_sm"):
            result, calls = run(*words)
            assert (result.exit_code, len(calls)) == (0, 1)


def test_documented_app_shows_constituents(model):
    pytest.importorskip("spacy_streamlit", reason="no spacy-streamlit")
    from streamlit.testing.v1 import AppTest

    page = (ROOT / "docs/demo.md").read_text(encoding="utf8")
    (code,) = re.findall("```python\n(.*?)```", page, re.DOTALL)
    code = code.replace("en_pointparse_sm", str(model))
    code = code.replace("She enjoys playing tennis.", OTTER)
    shown = AppTest.from_string(code, default_timeout=120).run()
    assert not shown.exception
    table = shown.dataframe[0].value
    assert list(zip(table["text"], table["label_"])) == [
        (OTTER, "S"),
        ("The otter", "NP"),
        ("sleeps", "VP"),
    ]
    assert "NP" in shown.markdown[0].value
    assert list(shown.main)[-1].type in ("image", "imgs")


# --- in a browser ---

CHROMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
RUNNABLE = "return document.querySelectorAll('script, [onerror], [onload]').length"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A headless Chromium that saves in `browser.folder` what is downloaded."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    chrome = next(filter(None, map(shutil.which, CHROMES)), None)
    driver = shutil.which("chromedriver")
    if not chrome or not driver:
        pytest.skip("no Chromium with its chromedriver")
    from selenium.common.exceptions import WebDriverException

    folder = tmp_path_factory.mktemp("downloads")
    options = webdriver.ChromeOptions()
    options.binary_location = chrome
    for name in ("headless=new", "no-sandbox", "disable-dev-shm-usage"):
        options.add_argument(f"--{name}")
    options.add_argument("--window-size=1200,1400")
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(folder)}
    )
    try:
        browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start: {error.msg}")
    browser.folder = folder
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def address(browser, model):
    """Where the command shows the page."""
    pytest.importorskip("streamlit", reason="the page needs Streamlit")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spacy_pointparse", "demo", str(model)]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        env={**os.environ, "STREAMLIT_SERVER_HEADLESS": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    printed = []
    for line in process.stdout:
        printed.append(line)
        if "URL:" in line:
            break
    yield printed[-1].split()[-1]
    process.terminate()
    printed.append(process.communicate()[0])
    assert "Traceback" not in "".join(printed)


class Visitor:
    """Does what a person does with the page."""

    def __init__(self, browser):
        self.browser = browser

    def find(self, selector, accepts=lambda element: True):
        """Wait for an element that is to be seen and is accepted."""
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        def look(browser):
            elements = browser.find_elements("css selector", selector)
            shown = filter(lambda one: one.is_displayed(), elements)
            return next(filter(accepts, shown), None)

        stale = [StaleElementReferenceException]
        return WebDriverWait(self.browser, 120, 0.2, stale).until(look)

    def find_text(self, selector, part):
        return self.find(selector, lambda element: part in element.text)

    def find_spans(self, accepts):
        # The page renews its parts one by one: the last ones may still be there.
        selector = "[data-testid=stHtml]"
        return self.find(selector, lambda element: accepts(element.text.split()))

    def find_tree(self, part):
        return self.find("img", lambda image: part in image.get_attribute("alt"))

    def enter(self, selector, text):
        from selenium.webdriver.common.keys import Keys

        field = self.find(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        field.send_keys(Keys.CONTROL, Keys.ENTER)


@pytest.fixture
def visitor(browser, address):
    browser.get(address)
    return Visitor(browser)


def test_browser_shows_the_tree_of_what_is_typed(visitor, browser, tmp_path):
    visitor.enter("textarea", BOAT)
    tree = visitor.find_tree(BOAT_TREE)
    assert int(tree.get_property("naturalWidth")) > 400
    assert browser.title == "Constituency parsing by pointing"
    assert browser.save_screenshot(str(tmp_path / "page.png"))


def test_browser_scrolls_long_sentences(visitor, browser):
    visitor.enter("textarea", f"{'She sold the old boat and ' * 12}geese swim .")
    tree = visitor.find_tree("(NNS geese)")
    box = tree.find_element("xpath", "..")
    assert tree.size["width"] == int(tree.get_property("naturalWidth")) > 2000
    assert box.size["width"] < 1200
    assert int(box.get_property("scrollWidth")) >= tree.size["width"]
    assert browser.execute_script("return document.body.scrollWidth") <= 1200


def test_browser_searches(visitor):
    visitor.enter("textarea", BOAT)
    visitor.find_tree(BOAT_TREE)
    visitor.find_text("[role=tab]", "Search").click()
    visitor.enter("input[aria-label=Pattern]", "NP << sail")
    visitor.find_text("[data-testid=stText]", "Constituents: 2")
    visitor.find_spans(lambda words: words.count("NP") == 2 and "sail" in words)
    bad = "NP < (`*$..$_["
    visitor.enter("input[aria-label=Pattern]", bad)
    alert = visitor.find("[role=alert]")
    assert f"{bad!r}" in alert.text and "Traceback" not in alert.text


def test_browser_highlights_labels(visitor):
    visitor.enter("textarea", OTTER)
    visitor.find_tree(OTTER_TREE)
    visitor.find_text("[role=tab]", "Labels").click()
    visitor.find_text("[data-testid=stText]", "Constituents: 3")
    visitor.find_spans(lambda words: {"S", "NP", "VP", "otter"} < set(words))


def test_browser_downloads(visitor, browser):
    visitor.enter("textarea", BOAT)
    visitor.find_tree(BOAT_TREE)
    for kind, content in ((".mrg", f"{BOAT_TREE}\n"), (".svg", ">sail</text>")):
        visitor.find_text("button", kind).click()
        path = browser.folder / f"trees{kind}"
        visitor.find("body", lambda _, path=path: path.exists())
        assert content in path.read_text(encoding="utf8")


def test_browser_runs_no_word_of_a_text(visitor, browser):
    visitor.enter("textarea", " ".join(EVIL))
    # Streamlit drops an alternative text that looks like this.
    visitor.find(
        "img", lambda image: "&lt;script" in read_svg(image.get_attribute("src"))
    )
    visitor.find_text("[role=tab]", "Labels").click()
    visitor.find_text("[data-testid=stHtml]", EVIL[0])
    assert browser.title == "Constituency parsing by pointing"
    assert not browser.find_elements("css selector", "main [onerror], main [onload]")


def test_browser_runs_what_is_not_escaped(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(f"<title>quiet</title>{EVIL[0]}")
    browser.get(path.as_uri())
    assert browser.title == "ran"
    assert browser.execute_script(RUNNABLE) == 1


@pytest.mark.parametrize(
    ("style", "name"),
    [("tree", "a.svg"), ("tree", "a.html"), ("span", "a.html"), ("text", "a.html")],
)
def test_browser_runs_no_word_and_no_label(browser, tmp_path, vocab, style, name):
    doc = Doc(vocab, words=EVIL, tags=EVIL)
    set_constituents(doc, [(0, len(EVIL), label) for label in EVIL])
    path = tmp_path / name
    picture = render(doc, style=style, page=name == "a.html")
    path.write_text(picture, encoding="utf8")
    browser.get(path.as_uri())
    text = browser.execute_script("return document.documentElement.textContent")
    assert not [word for word in EVIL if text.count(word) < 2]
    assert browser.title != "ran"
    assert browser.execute_script(RUNNABLE) == 0
