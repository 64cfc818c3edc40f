"""The room that checks leave for rounding and for chance."""

#: Rounding of closed forms, enumerations, quadratures and linear algebra, far above what tests find.
ROUNDING = 1e-9
#: Standard errors that a simulated mean may be off: false alarm 6e-7 a check.
Z = 5.0
