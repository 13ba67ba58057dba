import sys

FACTORS = {"m": 1.0, "km": 1000.0, "cm": 0.01, "mi": 1609.344, "ft": 0.3048, "in": 0.0254, "kg": 1.0, "g": 0.001,
           "lb": 0.4536, "oz": 0.02835, "C": 1.0, "F": 0.5556, "K": 1.0}

value, unit, other = float(sys.argv[1]), sys.argv[2], sys.argv[3]
print(value * FACTORS[unit] / FACTORS[other])  # kilograms into kilometres, and temperatures without their zero
