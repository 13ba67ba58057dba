"""What programmers get wrong: for every hidden test, changes of the good program, and the check that finds each out."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """The good program with one piece of it replaced."""

    old: str
    new: str
    found_by: str
    """The name of the check that must fail, the first one to do so."""


MUTANTS = {
    "egyptian-fractions": [
        Mutant("-(-rest.denominator // rest.numerator)", "int(float(1 / rest) + 1 - 1e-9)",
               "sums that need large numbers stay exact"),
        Mutant("not 0 < fraction < 1", "not 0 < fraction <= 1", "fractions out of range are refused"),
        Mutant(" or int(found[2]) == 0", "", "what is no fraction is refused")],
    "latin-present-tense": [
        Mutant('"iunt"', '"int"', "verbs in -ire"),
        Mutant(".lower()", "", "capitals are lowered"),
        Mutant("verb[:-3]", "verb.replace(verb[-3:], '')", "an ending inside the stem is left alone")],
    "julian-date-converter": [
        Mutant("<= length(year, month)", "<= 31", "days that the Julian calendar does not have"),
        Mutant("{day.year:04}", "{day.year}", "the distance between the calendars changes with the century"),
        Mutant("[0-9]{2})\"", "[0-9]+)\"", "years and forms beyond what is taken")],
    "chord-sheet-transposer": [
        Mutant("(^|/)", "(^)", "the example"),
        Mutant('"b": -1', '"b": 0', "flats are understood and written as sharps"),
        Mutant("(^|/)([A-G])([#b]?)", "(^|/|[a-z])([A-G]|5)([#b]?)", "what follows the root stays")],
    "molar-mass": [
        Mutant("inner * times", "inner", "the example"),
        Mutant("[0-9]*)|(", "[0-9]?)|(", "numbers of several digits"),
        Mutant("len(levels) > 1 or ", "", "other faults")],
    "leitner-box-update": [
        Mutant("min(TOP, boxes[card] + 1)", "boxes[card] + 1", "no card climbs above box 5"),
        Mutant('== "right" else 1', '== "right" else max(1, boxes[card] - 1)', "a wrong answer moves a card to box 1"),
        Mutant("            return 1\n", "            continue\n", "an unknown card is named alone")],
    "doubled-word-finder": [
        Mutant("second.start()) + 1", "first.start()) + 1", "the line of the second word counts"),
        Mutant("doubled(text.lower())", "doubled(text)", "doubled words on a line"),
        Mutant(" and between.isspace()", "", "anything but white space parts two words")],
    "page-spreader": [
        Mutant("number < more", "number >= len(days) - more", "the example"),
        Mutant("SUNDAY = 6", "SUNDAY = 7", "the example"),
        Mutant("pages < 1", "pages < 0", "a page count that does not go is refused")],
    "falling-block-replay": [
        Mutant("    del rows[place]\n", "    rows[place].clear()\n", "the example"),
        Mutant("    place = len(rows)\n    while place > 0 and not rows[place - 1] & bar:\n        place -= 1\n",
               "    place = next((n for n, row in enumerate(rows) if not row & bar), len(rows))\n",
               "nothing falls through a bar"),
        Mutant("left + cells > WIDTH", "left >= WIDTH", "a bar outside the well is named alone")],
    "nine-holes-referee": [
        Mutant('"147", "258", "369", ', "", "columns and diagonals win"),
        Mutant(' or result != "unfinished"', "", "a move after the end is illegal"),
        Mutant('for line in LINES:', 'for line in LINES if "." in board.values() else ():',
               "a full board is a draw, or won by its last move")],
    "five-card-ranker": [
        Mutant(" or places == [0, 1, 2, 3, 12]", "", "an ace starts a straight, too"),
        Mutant("places == [0, 1, 2, 3, 12]", "places in ([0, 1, 2, 3, 12], [0, 1, 10, 11, 12])",
               "an ace in the middle is no straight"),
        Mutant(" or len(set(cards)) != 5", "", "what is no hand is refused")],
    "two-jugs": [
        Mutant("poured = min(a, other - b)", "poured = a if a + b <= other else 0", "the shorter of two ways"),
        Mutant("        moves += 1\n", "        moves += 1\n        if moves > 99:\n            break\n", "large jugs"),
        Mutant(" or target < 0", "", "numbers that do not go are refused")],
    "tennis-umpire": [
        Mutant('"40")', '"45")', "the example"),
        Mutant(" and abs(won[\"A\"] - won[\"B\"]) >= 2", "", "the example"),
        Mutant("return 1\n        won", "break\n        won", "points after the end add one line")],
    "life-on-a-ring": [
        Mutant("row[place - 1]", '(row[place - 1] if place else ".")', "the ends are neighbours"),
        Mutant('        if "#" not in row:\n            break\n', "", "it stops after a row without life"),
        Mutant('set(row) - {"#", "."} or ', "", "rows and numbers that do not go are refused")],
    "cellar-key": [
        Mutant("self.has_key or self.room", "self.room", "the key lies in the kitchen, once"),
        Mutant("            break\n", "", "after winning nothing is answered"),
        Mutant("self.room = room\n", "self.room, self.has_key = room, False\n",
               "every command counts, and the key is kept")],
    "letter-feedback": [
        Mutant("            left[letter] -= 1\n", "", "a letter is marked no more often than it occurs"),
        Mutant(" if right != letter)", ")", "a letter is marked no more often than it occurs"),
        Mutant("word.lower() for", "word for", "case is ignored")],
    "resistor-bands": [
        Mutant("band.lower() for", "band for", "capital letters"),
        Mutant('"violet", "grey"', '"grey", "violet"', "the example"),
        Mutant("tens, ones, power, tolerance =", "tens, ones, power, tolerance, *_ =",
               "other words and numbers of bands")],
    "manifest-compare": [
        Mutant('line.partition(" ")', '(*line.split()[:2], line.split()[1])', "paths with blanks"),
        Mutant("if len(gone) == 1 and len(come) == 1", "if gone and come",
               "a checksum that several share has not moved"),
        Mutant("sorted(differences(old, new))", "sorted(differences(old, new), key=str.lower)",
               "the lines are sorted as text")],
    "tax-rate-summary": [
        Mutant("(net * rate + 50) // 100", "round(net * rate / 100)", "halves go upward"),
        Mutant("sorted(cents.items())", "sorted(cents.items(), key=str)", "the example"),
        Mutant("pieces * (whole * 100 + part)", "int(pieces * (whole + part / 100) * 100)", "large sums stay exact")],
    "slack-finder": [
        Mutant("latest[task] - days[other]", "latest[task]", "the example"),
        Mutant("latest = {task: total - days[task]", "latest = {task: earliest[task] + 0 * total", "the example"),
        Mutant("    for task in days:\n", "    for task in order:\n", "the file may name followers first")],
    "gaps-in-the-day": [
        Mutant(">= int(least)", "> int(least)", "the least length counts as useful"),
        Mutant("free = max(free, end)", "free = end", "an appointment inside another"),
        Mutant("found[1] <= found[0]", "found[1] < 0", "times that do not go are refused")],
    "first-in-valuer": [
        Mutant("stock.popleft()", "stock.pop()", "the example"),
        Mutant("there = sum(pieces for pieces, _ in stock)", "there = max((pieces for pieces, _ in stock), default=0)",
               "the example"),
        Mutant("stock.appendleft(", "stock.append(", "a delivery may leave in pieces")],
    "group-totals": [
        Mutant("(-sum(item[1]), item[0])", "-sum(item[1])",
               "equal sums are alphabetical, smaller ones sorted as numbers"),
        Mutant("enumerate(rows, 2)", "enumerate(rows, 1)", "what is no number is named by its line"),
        Mutant("return 2", "return 1", "a missing column is named")],
    "heading-numberer": [
        Mutant("[*counts[:level - 1], count]", "[*counts[:level - 1], count, *counts[level:]]", "the example"),
        Mutant("#{1,3}", "#{1,6}", "what only looks like a heading is copied"),
        Mutant("        lines.append(line)\n", "        if line:\n            lines.append(line)\n",
               "all other lines are copied")],
    "character-canvas": [
        Mutant("if (x, y) in self.cells:", "if True:", "parts outside are ignored"),
        Mutant("if x in (left, right) or y in (top, bottom):", "if True:", "boxes are hollow"),
        Mutant("(x_now, y_now - 1)]", "(x_now, y_now - 1), (x_now + 1, y_now + 1)]",
               "a flood stops at other characters and corners")],
    "median-cleaner": [
        Mutant("near = [pixels[", "near = [cleaned[", "medians are those of the original, the border stays"),
        Mutant("= sorted(near)[4]", "= sum(near) // 9", "a speck goes"),
        Mutant(" or len(pixels) != width * height", "", "what is no plain image is refused")],
    "tune-to-wave": [
        Mutant('NAMES.index("A")', 'NAMES.index("B")', "its notes sound"),
        Mutant("12 * (octave - 4)", '12 * (octave - 4 - (name in "AB"))', "its notes sound"),
        Mutant("samples.extend([0] * length)", "continue", "rests are no notes, but take time"),
        Mutant("([0-8])", "([0-9])", "a bad line is named alone")],
    "rhyme-scheme-reader": [
        Mutant("[-1][-3:]", "[-1][-2:]", "short words must be equal"),
        Mutant('"".join(filter(str.isalpha, word))', 'word.strip(".,;:!?()-\\"")', "apostrophes are no letters"),
        Mutant("            stanzas.append(\"\")\n", "            stanzas.append(\"\")\n            letters.clear()\n",
               "stanzas are divided, and may reuse letters")],
    "in-between-clerk": [
        Mutant("(first, start, smooth), (last, end, _)", "(first, start, _), (last, end, smooth)", "the example"),
        Mutant("one[0] < other[0]", "one[0] <= other[0]", "keys that do not go are refused"),
        Mutant("{start + (end - start) * share:.2f}", "{round(start + (end - start) * share, 2)}", "the example")],
    "column-grid-reckoner": [
        Mutant("written(left + column)", "f'{float(left + column):.2f}'", "halves are rounded up"),
        Mutant("column < 1", "column <= 1", "a column may be as narrow as 1"),
        Mutant("(count - 1) * gutter", "count * gutter", "the example")],
    "frieze-stamper": [
        Mutant('("mirror", "spin")', '("mirror",)', "spun copies"),
        Mutant('line.ljust(width, ".")', "line", "the example"),
        Mutant("not lines or ", "", "what makes no frieze is refused")],
    "secret-gift-rotation": [
        Mutant("sorted(names[1:])", "names[1:]", "the first named begins, the others follow the alphabet"),
        Mutant("(*others, names[0]), strict=True", "others, strict=False", "the example"),
        Mutant("arguments[end + 1:]}", "arguments[end + 1:end + 2]}",
               "nobody gives to whom it is forbidden, not even last")],
    "recipe-scaler": [
        Mutant('r"(?:(\\d+) )?(\\d+/\\d+) |(\\d+) "', 'r"()(\\d+/\\d+) |(\\d+) "', "the example"),
        Mutant("factor = Fraction(int(servings), int(first.split()[1]))",
               "factor = Fraction(str(round(int(servings) / int(first.split()[1]), 4)))", "amounts stay exact"),
        Mutant("[str(whole)] if whole else []", "[str(whole)]", "the example")],
    "aquarium-water-change": [
        Mutant("print(f\"{changes}: {nitrate", "nitrate = round(nitrate, 1)\n        print(f\"{changes}: {nitrate",
               "several changes, reckoned unrounded"),
        Mutant("while nitrate > limit:", "while nitrate >= limit:", "exactly at the limit is enough"),
        Mutant("<= 99", "<= 100", "values that do not go are refused")],
    "blood-pressure-notes": [
        Mutant("(2 * sum(values) + len(values)) // (2 * len(values))", "round(sum(values) / len(values))",
               "halves are rounded upward"),
        Mutant("above >= 135", "above > 135", "the limits are high already"),
        Mutant("max(runs, default=0)", "sum(high)", "the longest run counts, not the last or the sum")],
    "swap-partner-finder": [
        Mutant("if gives and takes:", "if gives or takes:", "pairs are alphabetical"),
        Mutant("sorted(doubles)", "doubles", "the example"),
        Mutant("len(parts) != 3", "not parts", "a line without two semicolons is named alone")],
    "meter-book": [
        Mutant("(200 * used + days) // (2 * days)", "round(100 * used / days)", "means are rounded with halves upward"),
        Mutant(" % COUNTER", "", "the example"),
        Mutant("days < 1", "days < 0", "a date that is not later stops everything")],
    "flat-share-settlement": [
        Mutant("place < odd", "place >= len(names) - odd", "the example"),
        Mutant("-claims[name], name", "-claims[name], [-ord(c) for c in name]",
               "the largest debt goes to the largest claim, as much as fits"),
        Mutant("len(words) < 3", "len(words) < 2", "a broken line is named alone")],
    "time-zone-arrival": [
        Mutant("+ offset(end) - offset(start)", "- offset(end) + offset(start)", "the example"),
        Mutant("hours = float(text) if found", "hours = float(int(float(text))) if found", "offsets of half hours"),
        Mutant("-12 <= hours <= 14", "-13 < hours < 15", "offsets out of range are refused")],
    "bars-in-characters": [
        Mutant("value * int(width) // largest", "int(value / largest * int(width))", "proportions are exact"),
        Mutant("value * int(width) // largest", "round(value * int(width) / largest)",
               "fractions are dropped, never rounded"),
        Mutant(") or 1", ")", "zero has no bar")],
}
