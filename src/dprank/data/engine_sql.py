"""The SQL text of counting, the same for every engine: rows of labels, rows of numbers, rows that count, sums."""

from __future__ import annotations

from dprank.data.answers import NAMED

__all__ = ["DUCKDB", "SPARK", "bounded_sql", "coded_sql", "counted_sql", "part_sql", "shard_sql"]


# Five functions that the text needs, and in which engines differ: what is a 64-bit number, and what is its overflow.
#   mixed(key, x)       splitmix64 of key xor x, as dprank.data.bounding mixes
#   sortable(key)       a number that sorts as the 64 bits do
#   ranked(key, last)   something that sorts as the pair of two such numbers: one expression, so that DuckDB keeps the
#                       least of a person in a heap and sorts nothing
#   part(key, n)        0 .. n - 1
#   start()             a key of zero bits
#: For DuckDB.
DUCKDB = (
    "CREATE TEMP MACRO bits(x) AS CAST(CAST(x AS HUGEINT) & 18446744073709551615::HUGEINT AS UBIGINT)",
    "CREATE TEMP MACRO low(x) AS CAST(x & 18446744073709551615::UHUGEINT AS UBIGINT)",
    "CREATE TEMP MACRO fold(x, k) AS xor(x, x >> k)",
    "CREATE TEMP MACRO times(x, c) AS low(CAST(x AS UHUGEINT) * CAST(c AS UHUGEINT))",
    "CREATE TEMP MACRO stirred(x) AS fold(low(CAST(x AS UHUGEINT) + 11400714819323198485::UHUGEINT), 30)",
    "CREATE TEMP MACRO mixed(key, x) AS "
    "fold(times(fold(times(stirred(xor(key, bits(x))), 13787848793156543929), 27), 10723151780598845931), 31)",
    "CREATE TEMP MACRO sortable(key) AS key",
    "CREATE TEMP MACRO ranked(key, last) AS row(key, last)",
    "CREATE TEMP MACRO part(key, n) AS CAST((key >> 1) % n AS BIGINT)",
    "CREATE TEMP MACRO start() AS 0::UBIGINT",
)
#: For Spark, where a sum that overflows must wrap: with ``spark.sql.ansi.enabled`` off.
SPARK = (
    "CREATE TEMPORARY FUNCTION fold(x BIGINT, k INT) RETURNS BIGINT RETURN x ^ shiftrightunsigned(x, k)",
    "CREATE TEMPORARY FUNCTION mixed(key BIGINT, x BIGINT) RETURNS BIGINT RETURN "
    "fold(fold(fold((key ^ x) + -7046029254386353131L, 30) * -4658895280553007687L, 27) * -7723592293110705685L, 31)",
    "CREATE TEMPORARY FUNCTION sortable(key BIGINT) RETURNS BIGINT RETURN key ^ (-9223372036854775807L - 1L)",
    "CREATE TEMPORARY FUNCTION ranked(key BIGINT, last BIGINT) RETURNS STRUCT<a: BIGINT, b: BIGINT> RETURN "
    "named_struct('a', sortable(key), 'b', sortable(last))",
    "CREATE TEMPORARY FUNCTION part(key BIGINT, n BIGINT) RETURNS BIGINT RETURN shiftrightunsigned(key, 1) % n",
    "CREATE TEMPORARY FUNCTION start() RETURNS BIGINT RETURN 0L",
)


def coded_sql(kind: str, *, mapped: bool, person: bool = True) -> str:
    """Rows of labels as rows of numbers, each with why it is left out: 0, or 1 more than its place in `REASONS`.

    Parameters
    ----------
    kind : {"comparisons", "tallies"}
    mapped : bool
        Whether persons are looked up in the table ``persons``, or are whole numbers of at least 0.
    person : bool
        Whether there are any.

    Returns
    -------
    str
        A query of the table ``given`` of labels, and of a table of labels and codes for each of its columns.

    Examples
    --------
    >>> "LEFT JOIN persons" in coded_sql("tallies", mapped=True)
    True
    """
    names = {"comparisons": ("first", "second", "answer"), "tallies": ("item",)}[kind]
    who = "CAST(0 AS BIGINT)" if not person else "persons.code" if mapped else "CAST(given.person AS BIGINT)"
    tables = [*(["person"] if mapped and person else []), *names]
    joins = "\n".join(f"  LEFT JOIN {it}s ON given.{it} IS NOT DISTINCT FROM {it}s.label" for it in tables)
    codes = ", ".join(f"CAST(coalesce({it}s.code, -1) AS INT) AS {it}" for it in names)
    unknown = "first < 0 OR second < 0" if kind == "comparisons" else "item < 0"
    said = "WHEN first = second THEN 3 WHEN answer < 0 THEN 4 " if kind == "comparisons" else ""
    rows = f"SELECT {who} AS person, {codes} FROM given\n{joins}"
    if kind == "comparisons":  # an answer may be the name of an item
        meant = f"WHEN answer - {NAMED} = first THEN 2 WHEN answer - {NAMED} = second THEN 0 ELSE -1"
        rows = f"""SELECT person, first, second, CASE WHEN answer < {NAMED} THEN answer {meant} END AS answer FROM (
  {rows}) named"""
    return f"""
SELECT *, CASE WHEN person IS NULL THEN 1 WHEN {unknown} THEN 2 {said}ELSE 0 END AS reason FROM (
  {rows}) looked_up"""


def bounded_sql(kind: str, n_items: int, per_person: int | None, design: str = "any", ties: bool = True) -> str:
    """The rows that count: of every person those that are least by a hash of that person's own rows.

    Parameters
    ----------
    kind : {"comparisons", "tallies"}
    n_items, per_person, design, ties
        As in `Counts`.

    Returns
    -------
    str
        A query of the table ``coded``, as `coded_sql` makes it. It keeps what `Comparisons.bounded` and
        `Tallies.counts` do: for one person the hash takes no two pairs for one, as each of its steps has an inverse.

    Examples
    --------
    >>> "row_number" in bounded_sql("tallies", 5, 3), "row_number" in bounded_sql("comparisons", 5, None)
    (True, False)
    """
    if kind == "tallies":
        rows = """
  SELECT person, item, mixed(own, item) AS key FROM (
    SELECT *, mixed(start(), person) AS own FROM (SELECT DISTINCT person, item FROM coded WHERE reason = 0) once
  ) owned"""
        return _least(rows, "item", per_person or 1, "sortable(key)")
    decided = "" if ties else " AND answer <> 1"
    if per_person is None:
        return f"SELECT first, second, answer FROM coded WHERE reason = 0{decided}"
    turned = "CASE WHEN first < second THEN {} ELSE {} END".format
    rank = "ranked(key, last)" if design == "any" else "sortable(key)"
    rows = f"""
  SELECT *, mixed(key, answer) AS last FROM (
    SELECT *, mixed(own, CAST(first AS BIGINT) * {n_items} + second) AS key FROM (
      SELECT person, {turned("first", "second")} AS first, {turned("second", "first")} AS second,
        {turned("answer", "2 - answer")} AS answer, mixed(start(), person) AS own
      FROM coded WHERE reason = 0{decided}) turned) keyed"""
    if design != "any":
        # of the answers to one pair the least by the hash
        rows = f"""
  SELECT person, first, second, min_by(answer, sortable(last)) AS answer, key FROM ({rows}) mixed_up
  GROUP BY person, first, second, key"""
    if design != "complete":
        return _least(rows, "first, second, answer", per_person, rank)
    least = _least(rows, "person, first, second, answer", per_person, rank)
    return f"""
SELECT first, second, answer FROM (
  SELECT *, count(*) OVER (PARTITION BY person) AS answers FROM ({least}) bounded
) numbered WHERE answers = {per_person}"""


def _least(rows: str, columns: str, most: int, rank: str) -> str:
    return f"""
SELECT {columns} FROM (
  SELECT *, row_number() OVER (PARTITION BY person ORDER BY {rank}) AS place FROM ({rows}) hashed
) placed WHERE place <= {most}"""


def counted_sql(kind: str, bounded: str) -> str:
    """A row for every item that is counted, with its sums.

    Parameters
    ----------
    kind : {"comparisons", "tallies"}
    bounded : str
        As of `bounded_sql`.

    Examples
    --------
    >>> counted_sql("tallies", "SELECT item FROM counted").split()[:4]
    ['SELECT', 'item,', 'count(*)', 'AS']
    """
    if kind == "tallies":
        return f"SELECT item, count(*) AS persons FROM ({bounded}) bounded GROUP BY item"
    sides = "won AS wins, tied AS ties, lost AS losses", "lost AS wins, tied AS ties, won AS losses"
    both = " UNION ALL ".join(
        f"SELECT {it} AS item, {of} FROM pairs" for it, of in zip(("first", "second"), sides, strict=True)
    )
    one = "CAST(sum(CASE WHEN answer = {} THEN 1 ELSE 0 END) AS BIGINT)".format
    total = ", ".join(f"CAST(sum({it}) AS BIGINT) AS {it}" for it in ("wins", "ties", "losses"))
    return f"""
WITH pairs AS (
  SELECT first, second, {one(2)} AS won, {one(1)} AS tied, {one(0)} AS lost FROM ({bounded}) bounded
  GROUP BY first, second)
SELECT item, {total} FROM ({both}) sides GROUP BY item"""


def shard_sql(person: str, salt: int, shards: int) -> str:
    """The shard of a person, from 0, as `dprank.data.bounding.shard_of` has it for the salt -1; 0 for nobody.

    Examples
    --------
    >>> shard_sql("person", -1, 16)
    'coalesce(part(mixed(mixed(start(), person), -1), 16), 0)'
    """
    return part_sql(f"mixed(start(), {person})", salt, shards)


def part_sql(key: str, salt: int, parts: int) -> str:
    """The same of a person's key.

    Examples
    --------
    >>> part_sql("own", -1, 16)
    'coalesce(part(mixed(own, -1), 16), 0)'
    """
    return "CAST(0 AS BIGINT)" if parts == 1 else f"coalesce(part(mixed({key}, {salt}), {parts}), 0)"
