import sys

FACTORS = {
    "length": {"m": 1.0, "km": 1000.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254},
    "weight": {"kg": 1.0, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523125},
}
SCALES = {"C": (1.0, 273.15), "F": (5 / 9, 459.67), "K": (1.0, 0.0)}  # kelvin = (value + offset) * factor


def convert(value: float, unit: str, other: str) -> float | None:
    for factors in FACTORS.values():
        if unit in factors and other in factors:
            return value * factors[unit] / factors[other]
    if unit in SCALES and other in SCALES:
        kelvin = (value + SCALES[unit][1]) * SCALES[unit][0]
        return kelvin / SCALES[other][0] - SCALES[other][1]
    return None


def main(words: list[str]) -> str:
    try:
        value, unit, other = float(words[0]), words[1], words[2]
    except (ValueError, IndexError):
        return "Usage: main.py VALUE FROM TO"
    result = convert(value, unit, other)
    return "Error: these units do not fit together" if result is None else f"{value:g} {unit} = {result:.6g} {other}"


print(main(sys.argv[1:]))
