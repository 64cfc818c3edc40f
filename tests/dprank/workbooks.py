"""Workbooks, written by hand: what Excel and LibreOffice write, without either."""

import zipfile
from datetime import date, datetime
from xml.sax.saxutils import escape

_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKED = "http://schemas.openxmlformats.org/package/2006/relationships"
#: The second format shows dates.
_STYLES = f'<styleSheet xmlns="{_MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'


class Formula(str):
    """A value that a formula has."""


class Raw(str):
    """A cell in XML, as it is."""


def _cell(at, row, value):
    place = f'r="{_letters(at)}{row}"'
    if isinstance(value, Raw):
        return value.replace("PLACE", place)
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c {place} t="b"><v>{value:d}</v></c>'
    if isinstance(value, Formula):
        return f'<c {place} t="str"><f>A1&amp;B1</f><v>{escape(value)}</v></c>'
    if isinstance(value, date):
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        days = (moment - datetime(1899, 12, 30)).total_seconds() / 86400
        return f'<c {place} s="1"><v>{days!r}</v></c>'
    if isinstance(value, int | float):
        return f"<c {place}><v>{value!r}</v></c>"
    return f'<c {place} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def _letters(at):
    return (_letters(at // 26 - 1) if at >= 26 else "") + chr(65 + at % 26)


def write_xlsx(path, sheets):
    """A workbook of sheets by name, each a list of rows: texts, numbers, truth values, dates, `Formula`, `Raw`."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", _TYPES)
        file.writestr("_rels/.rels", _relations([("officeDocument", "xl/workbook.xml")]))
        names = "".join(
            f'<sheet name="{escape(name)}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1)
        )
        file.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets>{names}</sheets></workbook>'
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            _relations([("worksheet", f"worksheets/sheet{at}.xml") for at in range(1, len(sheets) + 1)]
                       + [("styles", "styles.xml")]),
        )  # fmt: skip
        file.writestr("xl/styles.xml", _STYLES)
        for at, rows in enumerate(sheets.values(), 1):
            data = "".join(
                f'<row r="{number}">{"".join(_cell(at, number, it) for at, it in enumerate(row))}</row>'
                for number, row in enumerate(rows, 1)
            )
            file.writestr(
                f"xl/worksheets/sheet{at}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>',
            )


def _relations(them):
    lines = "".join(
        f'<Relationship Id="rId{at}" Type="{_REL}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(them, 1)
    )
    return f'<Relationships xmlns="{_PACKED}">{lines}</Relationships>'


_ODS = "application/vnd.oasis.opendocument.spreadsheet"


def _ods_cell(value):
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, Raw):
        return value
    if isinstance(value, bool):
        said, text = f'"boolean" office:boolean-value="{str(value).lower()}"', str(value).upper()
    elif isinstance(value, date):
        said, text = f'"date" office:date-value="{value.isoformat()}"', value.isoformat()
    elif isinstance(value, int | float):
        said, text = f'"float" office:value="{value!r}"', repr(value)
    else:
        said, text = '"string"', str(value)
    return f"<table:table-cell office:value-type={said}><text:p>{escape(text)}</text:p></table:table-cell>"


def write_ods(path, sheets):
    """The same as LibreOffice has it."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(map(_ods_cell, row)) or _ods_cell(None)}</table:table-row>" for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("mimetype", _ODS, zipfile.ZIP_STORED)
        file.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_ODS}"/></manifest:manifest>',
        )
        file.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>{tables}'
            "</office:spreadsheet></office:body></office:document-content>",
        )
