# python compare.py CASE...: compares what an index holds with what a person sees in a file, value by value.
# Each CASE is a JSON file: path, spec, mode ("text" or "infer"), documents (a file of lines), mapping. Prints a JSON verdict, one on each line.
# It reads files only with Python's own csv and json, so that it shares no code with Sluice.
import csv
import gzip
import io
import json
import re
import sys
from collections import Counter
from decimal import Decimal

csv.field_size_limit(1 << 30)
MISSING = {"NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "\\N"}
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?$")
ANY_NUMBER = re.compile(r"[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?$")
DECIMAL = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$")
ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?: ?Z| ?[-+][\d:]+)?)?$")
DATE = re.compile(r"\d{1,4}[./]\d{1,2}[./]\d{1,4}(?: [\d:]+)?$")


def main(case):
    read = read_json if re.search(r"\.(geo)?json(\.gz)?$", case["path"]) else read_csv
    spec = case.get("spec", {})
    with (gzip.open if case["path"].endswith(".gz") else open)(case["path"], "rb") as file:
        found = read(file.read(), case, spec)
    with open(case["documents"], encoding="utf-8") as file:
        read = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in file]
    bare = spec.get("blanks", False)
    stored = Counter(canonical(one, bare) for one in read)
    expected = Counter(canonical(one, bare) for one in found["documents"])
    lacking, others = list((expected - stored).elements()), list((stored - expected).elements())
    verdict = {"documents": sum(expected.values()), "unfit": found.get("unfit", 0), "pick": found.get("pick")}
    verdict["lacking"], verdict["others"] = len(lacking), len(others)
    if lacking:
        near = min(others, key=lambda one: difference(one, lacking[0]), default="")
        verdict["first"] = [lacking[0][:300], near[:300]]
    verdict["types"] = wrong_types(found.get("kinds", {}), case.get("mapping")) if case["mode"] == "infer" else []
    print(json.dumps(verdict))


def difference(one, other):
    return len(set(one.split('", "')) ^ set(other.split('", "')))


def canonical(value, bare):
    return json.dumps(plain(value, bare), sort_keys=True, ensure_ascii=False)


def plain(value, bare):
    if isinstance(value, dict):
        return {name: plain(one, bare) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one, bare) for one in value]
    if isinstance(value, Decimal):
        return ["number", str(value.normalize() + 0)]
    return value.strip() if bare and isinstance(value, str) else value


def read_json(data, case, spec):
    value = json.loads(data.decode(spec.get("encoding", "utf-8-sig")), parse_float=Decimal, parse_int=Decimal)
    if "picked" in spec:
        value = value[spec["picked"]]
    elif ".geojson" in case["path"] and isinstance(value, dict) and "features" in value:
        value = value["features"]
    if isinstance(value, list):
        return {"documents": [one for one in value if isinstance(one, dict)], "unfit": sum(not isinstance(one, dict) for one in value)}
    arrays = [name for name, one in value.items() if isinstance(one, list) and len(one) > 1 and all(isinstance(e, dict) for e in one)]
    large = [name for name in arrays if len(json.dumps(value[name], default=str)) > len(json.dumps(value, default=str)) / 2]
    return {"documents": [value], "pick": large[0] if large else None}


def read_csv(data, case, spec):
    text = data.decode(spec.get("encoding", "utf-8-sig"))
    for _ in range(spec.get("skip", 0)):
        text = text[text.index("\n") + 1 :]
    plain_name = re.sub(r"\.gz$", "", case["path"])
    delimiter = spec.get("delimiter", "\t" if re.search(r"\.(tsv|tab)$", plain_name) else ",")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=spec.get("blanks", False), quotechar=spec.get("quote", '"'), escapechar=spec.get("escape"))
    rows = [row for row in lines if any(cell != "" for cell in row)]
    if "columns" in spec:
        rows = [[f"c{number + 1}" for number in range(spec["columns"])], *rows]
    header, rows = [name.strip() for name in rows[0]], rows[1:]
    if len(header) > 1 and header[-1] == "" and rows and all(len(row) == len(header) - 1 for row in rows):
        header = header[:-1]
    if len(rows) > 1 and all(len(row) == len(header) + 1 for row in rows) and any(row[-1] != "" for row in rows):
        header = ["", *header]
    names = named(header)
    whole, unfit = [], 0
    for row in rows:
        if len(row) == len(names) + 1 and row[-1] == "":
            row = row[:-1]
        if len(row) == len(names):
            whole.append(row)
        else:
            unfit += 1
    columns = list(zip(*whole)) if whole else []
    kinds = {name: kind_of(cells) for name, cells in zip(names, columns)}
    infers = case["mode"] == "infer"
    documents = []
    for row in whole:
        document = {}
        for name, cell in zip(names, row):
            if cell == "" or (infers and cell.strip() in MISSING and kinds[name] != "text"):
                continue
            document[name] = value_of(cell) if infers else cell
        if document:
            documents.append(document)
    return {"documents": documents, "unfit": unfit, "kinds": kinds}


def named(header):
    taken, seen, names = set(header), set(), []
    for at, name in enumerate(header):
        if name != "" and name not in seen:
            seen.add(name)
            names.append(name)
            continue
        base = name or ("row" if at == 0 else f"column{at + 1}")
        own, number = base, 2
        while own in taken:
            own, number = f"{base}_{number}", number + 1
        taken.add(own)
        names.append(own)
    return names


def kind_of(cells):
    values = {cell.strip() for cell in cells if cell != "" and cell.strip() not in MISSING}
    if not values:
        return "empty"
    if all(NUMBER.match(one) and is_short(one) for one in values):
        return "number"
    if all(DECIMAL.match(one) for one in values) and not all(one.lstrip("-").isdigit() for one in values):
        return "decimal"
    if all(ISO.match(one) for one in values):
        return "date"
    if all(one in ("true", "false") for one in values):
        return "boolean"
    if all(ANY_NUMBER.match(one) or ISO.match(one) or DATE.match(one) or one in ("true", "false") for one in values):
        return "value"
    return "text"


def is_short(text):
    digits = len(text.lstrip("-").replace(".", ""))
    return digits <= 15 or ("." not in text and abs(int(text)) <= 9007199254740991)


def value_of(text):
    cell = text.strip(" ")
    if cell in ("true", "false"):
        return cell == "true"
    if NUMBER.match(cell) and is_short(cell) and cell != "-0":
        return Decimal(cell)
    return text


TAKEN = {"number": {"long", "double", "date"}, "decimal": {"double"}, "date": {"date"}, "boolean": {"boolean"}}


def wrong_types(kinds, mapping):
    wrong = []
    for name, kind in kinds.items():
        if kind not in TAKEN or mapping is None:
            continue
        field = mapping
        for part in [name] if "subobjects" in mapping else name.rstrip(".").split("."):
            field = field.get("properties", {}).get(part, {})
        if field.get("type") not in TAKEN[kind]:
            wrong.append(f"{name}: {kind}, not {field.get('type')}")
    return wrong


for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as given:
        main(json.load(given))
