"""A stranger's template or expression ends as an error, soon and without taking the machine's memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chatdev.config import templates
from chatdev.config.templates import compile_expression, render, variables
from chatdev.errors import ConfigError, ExpressionError

VALUES = {"x": ["a"], "task": "T", "many": list(range(3000)), "software": {"main.py": "print()\n" * 1000}}

EXPRESSIONS = [
    "'a' * 10**10", "10**10 * 'a'", "[0] * 10**9", "(1, 2) * 10**9", "2**(10**9)", "9**(9**9)", "10**9000 * 10**9000",
    "'%099999999d' | format(1)", "'%*d' % (10**9, 1)", "'%s%s' % (('a' * 19000000), 'b' * 19000000)",
    "'a' | center(10**9)", "'x\\ny' | indent(10**9)", "x | tojson(indent=10**9)", "[1] | batch(10**9, 0) | list",
    "x | slice(10**8) | list", "1 | round(10**9)", "'{:>1000000000}'.format(1)", "'{:>{}}'.format(1, 10**9)",
    "'a'.ljust(10**10)", "'a'.zfill(10**10)", "'\\t'.expandtabs(10**10)", "(1).to_bytes(10**10, 'big')",
    "'a'.replace('a', 'b' * 10**8)", "('a' * 10**6).replace('a', 'b' * 10**6)",
    "('a' * 10**6) | replace('a', 'b' * 10**6)", "('b' * 10**6).join(['a'] * 10**6)",
    "(['a' * 10**6] * 10**6) | join", "([('a' * 10**6)] * 19) | map('upper') | join('b' * 19000000)",
    "'ab' ~ 'b' * 10**9", "('a' * 15000000) ~ ('a' * 15000000)", "('a' * 15000000) + ('a' * 15000000)",
    "range(10**9)", "lipsum(n=10**6)", "cycler(1)", "joiner(1)", "namespace(a=1)",
]

TEMPLATES = [
    "{% for a in many %}{% for b in many %}{% endfor %}{% endfor %}",
    "{% for a in many %}{{ 'a' * 100000 }}{% endfor %}",
    "{% set x %}{% for a in many %}{{ 'a' * 100000 }}{% endfor %}{% endset %}",
    "{% for a in many %}" + "x" * 10_000 + "{% endfor %}",
    "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% set a = 'x' * 1000 %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
    "{% set a = 'x' * 1000 %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
    "{% set a = ['x' * 1000] %}" + "{% set a = [a, a] %}" * 40 + "{{ a }}",
    "{% set a = ['x' * 1000] %}" + "{% set a = [a, a] %}" * 40 + "{{ a | tojson }}",
    "{% for a in many recursive %}{{ loop(many) }}{% endfor %}",
    "{% set a = 'x' * 19000000 %}{{ [" + "a[1:], " * 100 + "] | length }}",
    "{% set a = 'x' * 19000000 %}{{ [" + "a.upper(), " * 100 + "] | length }}",
    "{% set a = 'x' * 19000000 %}{{ [" + "a | upper, " * 100 + "] | length }}",
    "{{ 'a,' * 9000000 }}{{ ('ab,' * 6000000).split(',') | length }}", "{{ ('x' * 1000000) | wordwrap(1) }}",
    "{{ many | map('list') | sum(start=[]) }}",
    "{% for a in x %}" * 30 + "{% endfor %}" * 30,
    "{% include 'x' %}", "{% import '/etc/passwd' as p %}", "{% extends 'x' %}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}", "{{ self.__init__.__globals__ }}", "{{ x.append(1) }}",
    "{{ x | attr('__class__') | attr('__mro__') }}", "{{ ''['__class__'].__base__ }}",
    "{{ '{0.__class__.__init__.__globals__}'.format(x) }}", "{{ cycler.__init__.__globals__.os }}",
]


@contextmanager
def cheaply() -> Iterator[None]:
    """It takes little time and little more memory than there was; the seconds are for a machine that is busy."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    yield
    assert time.process_time() - began < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000, "KB"


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_hostile_expression_is_refused(text: str) -> None:
    with cheaply(), pytest.raises(ExpressionError):
        compile_expression(text).evaluate(VALUES)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_so_it_is_in_a_template(text: str) -> None:
    with cheaply(), pytest.raises(ConfigError):
        render(f"{{{{ {text} }}}}", VALUES, "here")


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_hostile_template_is_refused(text: str) -> None:
    with cheaply(), pytest.raises(ConfigError):
        render(text, VALUES, "here")


@pytest.mark.parametrize("text", [
    "{% for a in 'a' * 100000 %}{{ task in m }}{% endfor %}", "{% for a in 'a' * 100000 %}{{ m | length }}{% endfor %}",
    "{% for a in 'a' * 100000 %}{% if task is in m %}{% endif %}{% endfor %}",
    "{% for a in 'a' * 100000 %}{% set n = t.count('b') %}{% endfor %}", "{% set n = t.count('b') %}" * 5000,
    "{% if task in m %}{% endif %}" * 5000,
])
def test_a_template_of_many_long_steps_is_given_up(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_MOST_SECONDS", 0.5)
    with cheaply(), pytest.raises(ConfigError, match=r"more than 0\.5 seconds"):
        render("{% set m, t = many * 50, 'a' * 10000000 %}" + text, VALUES, "here")


def test_an_expression_of_constants_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "_MOST_SECONDS", 0.5)
    with cheaply(), pytest.raises(ExpressionError):
        compile_expression("0" + " + (('a' * 10000000) | upper | length)" * 1000).evaluate({})


@pytest.mark.parametrize(("text", "shown"), [
    ("{% for n in many[:3] %}{{ n }}{{ ', ' if not loop.last }}{% endfor %}", "0, 1, 2"),
    ("{% for n in many[:3] %}{{ loop.index }}/{{ loop.length }} {% endfor %}", "1/3 2/3 3/3 "),
    ("{% for k, v in software.items() %}{{ k }}{% else %}none{% endfor %}", "main.py"),
    ("{% for n in [] %}{% else %}none{% endfor %}", "none"),
    ("{{ x | map('upper') | join(', ') }} {{ '%s=%d' | format('a', 3) }} {{ 'a' ~ 1 ~ x }}", "A a=3 a1['a']"),
    ("{{ '{:>4}'.format(1) }} {{ 'a b'.split() | length }} {{ 2 ** 10 }} {{ [1] + [2] }}", "   1 2 1024 [1, 2]"),
    ("{% macro f(n) %}<{{ n }}>{% endmacro %}{{ f(1) }}{{ 'a' * 3 }}", "<1>aaa"),
    ("{{ software | listing | length > 8000 }} {{ {'b': 1} | tojson(indent=None) }}", 'True {"b": 1}'),
    ("{{ 'x' | center(5) }}|{{ 'a\nb' | indent(2) }}", "  x  |a\n  b"),
])
def test_what_is_usual_is_rendered_as_before(text: str, shown: str) -> None:
    assert render(text, VALUES, "here") == shown


def test_a_number_of_thousands_of_digits_is_no_template() -> None:
    for read in (variables, lambda text: render(text, {}, "opening")):
        with pytest.raises(ConfigError, match="digits"):
            read("{{ " + "1" * 6000 + " }}")
