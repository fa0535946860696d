import type { Entries } from '../entry.js'

const missingProgram = /install the program/
const damaged = /data is corrupt|data cannot be read|incorrect (header|data) check/i
const directoryLast = /directory at the end/
const leftOut = /of this archive cannot be loaded/
const unfit = /fits --members/
const noSheet = /sheet is called/
const insideFile = /is a file in it/

/** The words of a JSON reader. */
const RELAXED = /json: a comm(ent|a)/

/** The words of a worker: see `openRanges`. */
const PLANNED = /planned to load/

/** Inputs that cannot be read, and documents in them that cannot be sent. */
export const inputEntries = {
  INPUT_NOT_FOUND: {
    exit: 2,
    title: 'An input does not exist',
    message: 'no such input: {input}',
    observed: 'ENOENT, "No such file or directory". Or the loader loads nothing and reports success.',
    causes: [
      { cause: 'The path is mistyped, or relative to another folder.', unless: /(https?|s3|elasticsearch):/ },
      { cause: 'The URL, the bucket or the key is mistyped, or the object was deleted.', if: /(https?|s3):/ },
      { cause: 'The cluster of --from has no such index, alias or data stream.', if: /elasticsearch:/ },
      { cause: 'The glob matches no file.', if: /^(?!.*elasticsearch:).*[*?[{]/ },
    ],
    fixes: [
      {
        fix: 'Check the path with `ls`. Quote globs, so that Sluice expands them and not the shell.',
        unless: /(https?|s3|elasticsearch):/,
      },
      { fix: 'Check the URL with `curl -I URL`, or the key with `aws s3 ls`.', if: /(https?|s3):/ },
      {
        fix: 'Compare the name with `GET _cat/indices` of that cluster, and the URL with --from.',
        if: /elasticsearch:/,
      },
    ],
    example: { input: 'logs/*.ndjson' },
  },
  INPUT_UNREADABLE: {
    title: 'Sluice cannot read an input',
    message: 'cannot read {input}: {problem}',
    observed: 'EACCES, EISDIR or EIO. "incorrect header check" if the data does not fit the name of the file.',
    causes: [
      { cause: 'The user that runs Sluice has no permission to read the file.', if: /permission|EACCES|EPERM/i },
      { cause: 'The path is a directory.', if: /: it is a directory|EISDIR/ },
      {
        cause: 'Sluice needs a program to read this compression, and the program is not installed.',
        if: missingProgram,
      },
      {
        cause: 'The compressed data is damaged.',
        if: damaged,
      },
      {
        cause: 'Sluice must read the end of a ZIP archive or a Parquet file first. A stream does not allow this.',
        if: directoryLast,
      },
      { cause: 'The archive holds files without documents, or encrypted files.', if: leftOut },
      { cause: 'The pattern is mistyped, or the archive has other files.', if: unfit },
      { cause: 'The name in --sheet is mistyped, or the sheet was renamed.', if: noSheet },
      { cause: 'The path names a file in an archive. Archives are no directories.', if: insideFile },
      { cause: 'The disk, the network or the stream failed.', if: /EIO|ECONN|ETIME|stream|abort|i\/o/i },
    ],
    fixes: [
      { fix: 'Grant read permission on the file to the user that runs Sluice.', if: /permission|EACCES|EPERM/i },
      { fix: "To load the files of a directory, pass a glob: 'dir/*.ndjson'.", if: /: it is a directory|EISDIR/ },
      { fix: 'Install the program, or decompress the file on a machine that has it.', if: missingProgram },
      { fix: 'Fetch the file again from its source.', if: damaged },
      { fix: 'Save the data as a file: `cat > FILE`. Then run `sluice ingest FILE --index INDEX`.', if: directoryLast },
      {
        fix: "Sluice has loaded the other files. Next time, choose the files that hold documents: `sluice ingest FILE --members '*.csv' --index INDEX`.",
        if: leftOut,
      },
      { fix: 'Correct --sheet. The message lists the sheets of the workbook.', if: noSheet },
      { fix: 'Correct --members. To list the files of the archive, run `unzip -l FILE` or `tar -tf FILE`.', if: unfit },
      {
        fix: 'Pass the archive, and choose the files in it: `sluice ingest ARCHIVE --members PATTERN --index INDEX`.',
        if: insideFile,
      },
      {
        fix: 'Correct what the message names, or fetch the input again from its source. Then run the same command again.',
        unless:
          /permission|EACCES|EPERM|: it is a directory|EISDIR|install the program|data is corrupt|of this archive|directory at the end|is a file in it|sheet is called/i,
      },
    ],
    example: { input: 'logs/app.ndjson', problem: 'permission denied' },
  },
  INPUT_TRUNCATED: {
    title: 'An input ends too early',
    message:
      '{input} is truncated: its {encoding} data ends after {bytes} decoded bytes. Sluice read every complete document',
    observed:
      'gzip reports "unexpected end of file". Other loaders stop in the middle, or treat the part as the whole file.',
    causes: ['The file was still being written or copied.', 'A download or upload broke off.', 'The disk was full.'],
    fixes: ['Fetch the whole file again and run the same command. A load continues after the last loaded document.'],
    example: { input: 'logs/app.ndjson.gz', encoding: 'gzip', bytes: 10_485_760 },
  },
  INPUT_UNENDED: {
    exit: 5,
    retry: 'later',
    title: 'Spooled stdin is incomplete',
    message: 'stdin was cut off after {bytes} bytes. Sluice loaded every complete document',
    observed: 'If a pipe to another loader is killed, nothing shows where it broke off.',
    causes: [
      'The process that spooled stdin (wrote it to disk while loading it) stopped before stdin ended.',
      'The disk was full.',
    ],
    fixes: [
      'If the run had --run-id, --ids field or --ids hash, pipe all of stdin to the same command again. Sluice stores no document twice.',
      'Otherwise load only the missing part. The receipt shows how many documents Sluice read.',
      'The rest of compressed data or of a JSON array is not valid input on its own. Run `sluice undo RUN`, then pipe all of stdin again.',
    ],
    example: { bytes: 48_210_944 },
  },
  INPUT_MALFORMED: {
    title: 'An input does not match its format',
    message: '{input} {problem}',
    observed: '"Unexpected token" or "Unexpected end of JSON input", usually without the position.',
    causes: [
      {
        cause: 'The format of the file does not match its name or the option --format.',
        if: /not valid/,
        unless: /--(types|id-field) names/,
      },
      { cause: 'A name in --types is mistyped, or the columns have changed.', if: /--types names/ },
      { cause: 'A name in --id-field is mistyped, or the columns have changed.', if: /--id-field names/ },
      { cause: 'The JSON breaks off or has a syntax error.', if: /not valid json/ },
      {
        cause: 'The first row of the CSV file leaves a column without a name, or uses a name twice.',
        if: /valid csv: (column|its first row)/,
      },
      { cause: 'A quote is missing, or the file was cut off inside a cell.', if: /never closed/ },
      { cause: 'The path of --pick is mistyped, or belongs to another document.', if: /no `/ },
    ],
    fixes: [
      { fix: 'Convert it to UTF-8: `iconv -f UTF-32 -t UTF-8 FILE | sluice ingest - --index INDEX`.', if: /UTF-32/ },
      {
        fix: 'JSON has no comments, and no comma before a closing bracket. If a load stored a part of it, run `sluice undo RUN`. Then convert it: `npx json5 FILE | sluice ingest - --index INDEX`.',
        if: RELAXED,
      },
      {
        fix: 'To load the elements of this array, leave out --pick.',
        if: /^(?!.*The first is).*top level is an array/s,
      },
      { fix: 'Pass --pick with the names that lead to the array, as in --pick result.items.', if: /no `/ },
      {
        fix: 'Correct the first row, or name the columns yourself: --columns id,name,price --skip-header.',
        if: /valid csv: (column|its first row)/,
      },
      {
        fix: 'If the input holds JSON, leave out --format. If its first row does name the columns, pass --skip-lines 0.',
        if: /begins with JSON/,
      },
      { fix: 'In --types, write each name exactly as in the first row of the file.', if: /--types names/ },
      { fix: 'In --id-field, write each name exactly as in the first row of the file.', if: /--id-field names/ },
      {
        fix: 'If the file was cut off, fetch it again. Otherwise correct that quote. If the file quotes no cells, pass --quote none.',
        if: /never closed/,
      },
      {
        fix: 'Repair the file, or pass its format, for example --format ndjson. To load an array inside a JSON document, pass --pick.',
        unless: /no `|UTF-32|valid csv|never closed|json: a comm(ent|a)/,
      },
    ],
    example: { input: 'export.json', problem: 'has no `items`: its top level is an array' },
  },
  INPUT_NOT_JSON: {
    title: 'An input is neither NDJSON nor JSON',
    message: '{input} looks like {kind}: {observed}. Sluice sent nothing from it',
    observed:
      'Every line is rejected with "Malformed content" or "not one JSON object". Or action lines are stored as documents.',
    causes: [
      { cause: 'The file was exported in another format.', if: /CSV|a table|XML|elasticdump|_search/ },
      { cause: 'The file is the body of a bulk request. Each document has an action line before it.', if: /_bulk/ },
      { cause: 'The file was written by hand, or for a program that reads more than JSON.', if: /JSON with/ },
      { cause: 'The file was compressed twice.', if: /gzip/ },
      {
        cause: 'The file was saved in a format that Sluice does not read.',
        if: /like an? (old|binary|OpenDoc|Word|Power)/,
      },
      { cause: 'The workbook has a password, so its content is encrypted.', if: /encrypted/ },
      {
        cause: 'The archive contains a workbook, another archive or a Parquet file.',
        if: /like a (ZIP|tar|Parquet|workbook)/,
      },
      { cause: 'The file is a plain-text log, or the path or glob matches the wrong file.', if: /plain text|binary/ },
    ],
    fixes: [
      { fix: 'Load it as CSV: `sluice ingest FILE --format csv --index INDEX`.', if: /like (?:CSV|a table)/ },
      {
        fix: 'Load its actions with their ids: `sluice ingest FILE --index INDEX --ids run`, without --id-field and --routing-field.',
        if: /like _bulk/,
      },
      {
        fix: 'Load the documents with the ids of the dump: `sluice ingest FILE --index INDEX --ids run`, without --id-field and --routing-field.',
        if: /like an elasticdump|like an answer/,
      },
      {
        fix: 'Convert it to JSON: `yq -p xml -o json FILE | sluice ingest - --index INDEX --pick PATH`.',
        if: /like XML/,
      },
      {
        fix: 'JSON has no comments, and no comma before a closing bracket. Convert it: `npx json5 FILE | sluice ingest - --index INDEX`.',
        if: /like JSON with/,
      },
      {
        fix: 'Open it in a spreadsheet program, and save it as a workbook (.xlsx). Then run `sluice ingest FILE.xlsx --index INDEX`.',
        if: /like an? (old|binary|OpenDoc)/,
      },
      {
        fix: 'Open it in a spreadsheet program, remove its password, and save it. Then run the same command again.',
        if: /encrypted/,
      },
      {
        fix: 'Copy its table into a spreadsheet, and save that as a workbook (.xlsx). Then load the workbook.',
        if: /like a (Word|Power)/,
      },
      { fix: 'Unpack the outer archive, and pass the files in it.', if: /like a (ZIP|tar|Parquet|workbook)/ },
      { fix: 'Unpack it once: `gunzip -c FILE | sluice ingest - --index INDEX`.', if: /like gzip/ },
      {
        fix: 'To load each line as a document with the field `message`: `sluice ingest FILE --format text --index INDEX`.',
        if: /like (?:plain text|a table)/,
      },
      'If the file is NDJSON after all, pass --format ndjson. Sluice then writes each line that is not a document to the dead letters.',
    ],
    example: { input: 'orders.dat', kind: 'CSV', observed: 'none of its first 1,000 lines is JSON' },
  },
  INPUT_CHANGED: {
    title: 'An input changed while its run was unfinished',
    message: '{input} changed after run {run} {did}: {observed}',
    observed:
      'Tools that skip by number or byte offset continue in the wrong place. They leave documents out or load them twice.',
    causes: [
      {
        cause: 'The file was replaced, rotated or edited after the run was interrupted.',
        unless: PLANNED,
      },
      {
        cause:
          'The file was replaced, rotated, edited or appended to after the job was planned, or while a worker read it.',
        if: PLANNED,
      },
      'Another file now has this name.',
    ],
    fixes: [
      {
        fix: 'Put the old content back and run the same command. It continues after the last document whose outcome is known.',
        unless: PLANNED,
      },
      {
        fix: 'Or forget the run with `sluice runs rm RUN`, and load the new content from the start. The documents of the old content stay in the index.',
        unless: PLANNED,
      },
      {
        fix: 'Put the old content back, with its modification time. Then load the failed ranges again: `sluice jobs JOB --retry`. Documents that are already stored count as duplicate.',
        if: PLANNED,
      },
      {
        fix: 'Or load the new content with another job. The documents of the old content stay in the index. Do not load a file that is still being written.',
        if: PLANNED,
      },
    ],
    example: {
      input: 'logs/app.ndjson',
      run: '20261121T093000Z-4f1c2a',
      did: 'loaded 48,210 documents from it',
      observed: 'it has only 1,024 bytes now',
    },
  },
  DOCUMENT_NOT_JSON: {
    exit: 1,
    title: 'A document is not a JSON object',
    message: 'not one JSON object: {problem}',
    observed:
      'Status 400 for a whole bulk request, "Malformed action/metadata line" or "Unexpected character". The cluster then rejects every other document of the request too.',
    causes: [
      'The line holds an array, a number, text or broken JSON.',
      'The line is not UTF-8.',
      'A document spans several lines.',
    ],
    fixes: [
      'Write one JSON object per line, or use --format json for a JSON array. The dead letters hold the original line and its position.',
    ],
    example: { problem: 'it is not valid UTF-8' },
  },
  DOCUMENT_ROW_INVALID: {
    exit: 1,
    title: 'A row of a CSV file, a Parquet file or a workbook cannot be loaded',
    message: 'not a row of the table: {problem}',
    observed:
      'Other tools shift the cells of such a row into wrong columns, leave some out, or stop with "Invalid Record Length" or "Expected 4 fields, saw 5".',
    causes: [
      'A cell holds the delimiter or a line break, and has no quotes around it.',
      'A quote inside a cell is not doubled.',
      'A cell does not fit the type that --types gives its column.',
      'JSON cannot hold a value of the Parquet file, for example NaN.',
      'A program that does not calculate formulas wrote the workbook.',
      'The file mixes encodings.',
    ],
    fixes: [
      {
        fix: 'If the reason says what to do, do that. Otherwise correct the file, or the program that writes it. To load the rejected rows, add a `document` to each record in the dead letters, then run `sluice replay FILE`.',
        unless: /not of the type/,
      },
      {
        fix: 'If the type in --types is wrong, correct it. If the cell is a word for a missing value, name it in --null-values. Otherwise add a `document` to each record in the dead letters, then run `sluice replay FILE`.',
        if: /not of the type/,
      },
      'If a title or comments stand above the names of the columns, pass their number of lines: --skip-lines N.',
      'If many rows are rejected, check the delimiter, quote and encoding that Sluice detected. To change them, pass --delimiter, --quote or --encoding.',
    ],
    example: { problem: 'line 812 has 3 cells for 4 columns' },
  },
  DOCUMENT_NOT_EDITED: {
    exit: 1,
    title: 'A document could not be edited',
    message: 'not edited: {problem}',
    observed: 'Other tools overwrite the field that already has the new name, or send the document with both fields.',
    causes: [
      { cause: 'The document already has a field with the new name of --rename.', if: /both/ },
      {
        cause: 'The renamed field occurs more than once in the document, for example in an array.',
        if: /more than once/,
      },
      { cause: 'The document has more levels than Elasticsearch accepts.', if: /levels/ },
    ],
    fixes: [
      {
        fix: 'To replace that field, also pass --drop with its name. To load the rejected documents, add an edited `document` to each record in the dead letters, then run `sluice replay FILE`.',
        if: /both/,
      },
      {
        fix: 'Add an edited `document` to each record in the dead letters, then run `sluice replay FILE`.',
        unless: /both/,
      },
    ],
    example: { problem: "it has both 'ts' and '@timestamp', so the first cannot be renamed" },
  },
  DOCUMENT_NOT_TRANSFORMED: {
    exit: 1,
    title: 'The function of --transform made no document from a line',
    message: 'not transformed: {problem}',
    observed: 'Other tools stop at the first error, leave the document out, or round its numbers.',
    causes: [
      { cause: 'The function threw an error for this document.', if: /threw/ },
      { cause: 'The function returned something that is not a document.', if: /returned|result/ },
      { cause: 'The result holds a value that JSON cannot hold.', if: /cannot hold(?! exactly)/ },
      { cause: 'The function calculates with a number that JavaScript would round.', if: /exactly/ },
      { cause: 'A JavaScript object cannot hold all fields of the document.', if: /twice|__proto__/ },
      { cause: 'The document or the result has more levels than Elasticsearch accepts.', if: /levels/ },
    ],
    fixes: [
      'The dead letters hold the original lines. Correct the function, then load these lines again: `jq -r .line DEAD-LETTERS | sluice ingest - --transform FILE`. Or add a transformed `document` to each record, then run `sluice replay FILE`.',
    ],
    example: {
      problem:
        "the function threw TypeError: Cannot read properties of undefined (reading 'id') (line 3 of the module)",
    },
  },
  DOCUMENT_HIT_INVALID: {
    exit: 1,
    title: 'A line of a dump or a _bulk file holds no document that Sluice can load',
    message: 'no document to load: {problem}',
    observed: 'Other tools store the line as it is, leave it out, or stop.',
    causes: [
      'The dump was made without `_source`, for example with `_source: false`, or the index stores none.',
      'An action of a _bulk file has a parameter that Sluice cannot send, for example `pipeline`, or `version` without `version_type`.',
      'The file was cut off or edited, or holds something else as well.',
    ],
    fixes: [
      'Make the dump again, with the whole `_source`. Or remove the parameter from the actions. If it names a pipeline, pass --pipeline.',
      'To load a rejected line, add its `document`, and its `id` if it had one, to its record in the dead letters. Then run `sluice replay FILE`.',
    ],
    example: { problem: 'it has no _source' },
  },
  DOCUMENT_TOO_LARGE: {
    exit: 1,
    title: 'A document is larger than a request may be',
    message: 'the document has {bytes} bytes, but the limit is {limit}',
    observed: 'Status 413 with an empty body, or ECONNRESET and "socket hang up" while the request is being sent.',
    causes: [
      'Line breaks are missing.',
      'A document contains a large attachment.',
      'The cluster or a gateway has a lower request limit.',
    ],
    fixes: ['Split the document. Elasticsearch accepts at most http.max_content_length (100mb) in one request.'],
    example: { bytes: 104_857_900, limit: 100_000_000 },
  },
  DOCUMENT_NOT_IN_INPUT: {
    exit: 1,
    title: 'A long document is no longer in its input',
    message:
      'the dead letter holds only the beginning of the document, and its input no longer holds the rest: {problem}',
    observed:
      'A replay rejects the document again. Its dead letter still holds the position, the checksum and the beginning of the document.',
    causes: ['The input was changed, moved or deleted after the load.', 'The replay runs on another machine.'],
    fixes: [
      'Put the input back to the path in `origin.stored.file`, or add the whole document to the dead letter as `document`. Then run `sluice replay FILE`.',
    ],
    example: { problem: '/data/orders.ndjson has changed at byte 120' },
  },
  DOCUMENT_ID_INVALID: {
    exit: 1,
    title: 'A document has no usable id',
    message: 'the field {field} {problem}',
    observed:
      'Documents get the id "undefined" or "null" and overwrite each other. Or an error reports an id of more than 512 bytes.',
    causes: ['The field is missing, empty, null, or not a string or number.', 'The id has more than 512 bytes.'],
    fixes: [
      'Choose other fields (--id-field), or let Sluice make the ids (--ids run). If the values are too long, hash them (--ids hash).',
    ],
    example: { field: 'event_id', problem: 'is missing' },
  },
  DOCUMENT_INDEX_INVALID: {
    exit: 1,
    title: 'A document names no usable index',
    message: 'no index for the document: the field {field} {problem}',
    observed:
      'Documents in an index such as `logs-%{branch}` or `logs-undefined`, or one bad name that fails a whole request.',
    causes: [
      'The field is missing, empty, null, or not a string or number.',
      'The field is not a date in ISO 8601, and not seconds or milliseconds since 1970.',
      'The value makes a name that Elasticsearch does not allow, for example with upper-case letters, a space or a slash.',
    ],
    fixes: [
      'Correct the field in the dead letters, then run `sluice replay FILE`. Or choose another field for --index.',
    ],
    example: { field: '@timestamp', problem: 'is missing' },
  },
  DOCUMENT_VERSION_INVALID: {
    exit: 1,
    title: 'A document has no usable version',
    message: 'no version for the document: the field {field} {problem}',
    observed: 'An older row replaces a newer one, or a whole request is refused because one version is not a number.',
    causes: [
      'The field is missing, empty or null.',
      'The field is not a whole number from 0 to 9,223,372,036,854,775,807, and not a date in ISO 8601. A number with a point or an exponent is not a whole number.',
    ],
    fixes: [
      'Correct the field in the dead letters, then run `sluice replay FILE`. Or choose another field for --version-field.',
    ],
    example: { field: 'updated_at', problem: 'is missing' },
  },
  DEAD_LETTER_BROKEN: {
    exit: 1,
    title: 'A line is not a dead letter',
    message: 'not a dead letter: {problem}',
    observed: 'Only `sluice replay` reads dead letters, the file of rejected documents and their reasons.',
    causes: [
      'The process that wrote the line was killed, and its run was not resumed. A resumed run writes the line again.',
      'Somebody edited the line, and a field that replay needs is missing or has the wrong type.',
    ],
    fixes: [
      'Run the interrupted load again, or repair the line. The line needs `operation`, `origin`, and one of `document`, `line` or `base64`. The new dead letters hold the original line.',
    ],
    example: { problem: 'its operation is not one of create, index, update, upsert, delete' },
  },
  NOT_DEAD_LETTERS: {
    title: 'A file holds no dead letters',
    message: '{input} is not a file of dead letters: {problem}',
    observed: 'Only `sluice replay` reads dead letters, the file of rejected documents and their reasons.',
    causes: [
      'The file is the input of the load, or holds documents that somebody repaired outside the dead letters.',
      'An editor split the records into several lines, or saved them in an encoding other than UTF-8.',
    ],
    fixes: [
      'Pass the dead letters file that the receipt of the load names. To repair a document there, change only the value of `document`.',
      'If the file holds plain documents, load it with `sluice ingest`, like any other input.',
    ],
    example: { input: 'logs/app.ndjson', problem: 'its operation is not one of create, index, update, upsert, delete' },
  },
} as const satisfies Entries
