import type { Entries } from '../entry.js'

/** Inputs that cannot be read, and documents in them that cannot be sent. */
export const inputEntries = {
  INPUT_NOT_FOUND: {
    stage: 'input',
    exit: 2,
    retry: 'no',
    title: 'An input does not exist',
    message: 'no such input: {input}',
    observed: 'ENOENT, "No such file or directory"; or a loader that loads nothing and ends well.',
    causes: ['The path is mistyped or relative to another folder.', 'A glob matches nothing.'],
    fixes: ['Check the path with `ls`; quote globs, so that Sluice and not the shell expands them.'],
    example: { input: 'logs/*.ndjson' },
  },
  INPUT_UNREADABLE: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input cannot be read',
    message: 'cannot read {input}: {problem}',
    observed: 'EACCES, EISDIR or EIO; "incorrect header check" for data that are not what their name says.',
    causes: [
      'The user that runs Sluice may not read the file.',
      'It is a directory.',
      'Its compressed data are damaged, or its disk or stream failed.',
    ],
    fixes: [
      "Grant read permission on the file; name the files of a directory with a glob ('dir/*.ndjson').",
      'Get a damaged file again from where it came from.',
    ],
    example: { input: 'logs/app.ndjson', problem: 'permission denied' },
  },
  INPUT_TRUNCATED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input ends too early',
    message:
      '{input} is truncated: its {encoding} data ends in the middle, {bytes} decoded bytes in; what was whole was loaded',
    observed: 'gzip says "unexpected end of file"; other loaders stop in the middle, or take the part for the whole.',
    causes: ['The file was still being written or copied.', 'A download or upload broke off.', 'The disk was full.'],
    fixes: ['Get the whole file again and run the same command: it goes on behind what was loaded.'],
    example: { input: 'logs/app.ndjson.gz', encoding: 'gzip', bytes: 10_485_760 },
  },
  INPUT_UNENDED: {
    stage: 'input',
    exit: 5,
    retry: 'later',
    title: 'Spooled stdin lacks its end',
    message: '{input} has no end: {observed}; what was whole of it is loaded',
    observed: 'A pipe into another loader that is killed leaves no trace of where it broke off.',
    causes: [
      'The process that spooled stdin (wrote it to disk while loading it) was stopped before stdin ended.',
      'The disk was full.',
    ],
    fixes: [
      'Pipe all of it into the same command again. Pass --run-id in both runs, or --ids field, so that no document is stored twice.',
      'Or load what is missing from where it came from: the receipt tells how many documents were read before it broke off.',
    ],
    example: { input: '-', observed: '48210944 bytes were spooled, the last 212 of them in the middle of a line' },
  },
  INPUT_MALFORMED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input is not in its format',
    message: '{input} is not valid {format}: {problem}',
    observed: '"Unexpected token" or "Unexpected end of JSON input", usually without the place.',
    causes: ['The file is in another format than its name says.', 'The JSON breaks off or has a syntax error.'],
    fixes: [
      'Repair the file, or say to `sluice ingest` what it is, with --format ndjson or --format json; --pick selects an array inside a JSON document.',
    ],
    example: { input: 'export.json', format: 'json', problem: 'it has nothing at the path items' },
  },
  INPUT_CHANGED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input changed while its run was unfinished',
    message: '{input} is not what run {run} loaded {documents} documents of: {observed}',
    observed:
      'Tools that skip by number or byte offset go on in the wrong place: documents are left out or loaded twice.',
    causes: ['The file was replaced, rotated or edited after the run was interrupted.', 'Another file got its name.'],
    fixes: [
      'Put the old content back and run the same command: it goes on behind the last document that is settled.',
      'Or give the run up: `sluice runs rm RUN`, and load the new content from its start. What was loaded of the old one stays in the index.',
    ],
    example: {
      input: 'logs/app.ndjson',
      run: '20261121T093000Z-4f1c2a',
      documents: 48_210,
      observed: 'it has only 1024 bytes now',
    },
  },
  DOCUMENT_NOT_JSON: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a JSON object',
    message: 'not one JSON object: {problem}',
    observed:
      'Status 400 for a whole bulk request, "Malformed action/metadata line" or "Unexpected character": every document beside it is refused too.',
    causes: [
      'The line holds an array, a number, text, or broken JSON.',
      'The line is not UTF-8.',
      'A document is spread over several lines.',
    ],
    fixes: [
      'The dead letters hold the untouched line and its position. Write one JSON object a line; for a JSON array use --format json.',
    ],
    example: { problem: 'it is not valid UTF-8' },
  },
  DOCUMENT_TOO_LARGE: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document is larger than a request may be',
    message: 'the document has {bytes} bytes, the limit is {limit}',
    observed: 'Status 413 with an empty body, or ECONNRESET and "socket hang up" while the request is being sent.',
    causes: [
      'Line ends are missing.',
      'A document carries a large attachment.',
      'The cluster or a gateway lowered its request limit.',
    ],
    fixes: ['Split the document. Elasticsearch takes at most http.max_content_length (100mb) in one request.'],
    example: { bytes: 104_857_900, limit: 100_000_000 },
  },
  DOCUMENT_ID_INVALID: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document has no usable id',
    message: 'the field {field} {problem}',
    observed:
      'Documents under the id "undefined" or "null" that overwrite each other, or an id of more than 512 bytes refused.',
    causes: ['The field is missing, empty, null, or not a string or number.', 'The id has more than 512 bytes.'],
    fixes: ['Choose another --id-field, or let Sluice make the ids (--ids run).'],
    example: { field: 'event_id', problem: 'is missing' },
  },
  DEAD_LETTER_BROKEN: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a dead letter',
    message: 'not a dead letter: {problem}',
    observed: 'Only `sluice replay` reads dead letters, the file of refused documents and their reasons.',
    causes: [
      'The process that wrote the line was killed, and its run was not resumed: a resume writes it anew.',
      'The line was edited, and a field that replay needs is missing or of another kind.',
    ],
    fixes: [
      'The new dead letters hold the untouched line. Resume the run that wrote the file, or repair the line: `operation` and `origin` have to be there, and `document`, `line` or `base64`.',
    ],
    example: { problem: 'its operation is neither create nor index' },
  },
  NOT_DEAD_LETTERS: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'A file holds no dead letters',
    message: '{input} is no file of dead letters: {problem}',
    observed: 'Only `sluice replay` reads dead letters, the file of refused documents and their reasons.',
    causes: [
      'Another file was named: the input of the load, or documents that were repaired on their own.',
      'An editor wrote the records over several lines, or in another encoding than UTF-8.',
    ],
    fixes: [
      'Name the file that the receipt of the load calls its dead letters. To repair a document there, change what stands behind `document` and leave the record around it as it is.',
      'Documents without such a record are an input like any other: load them with `sluice ingest`.',
    ],
    example: { input: 'logs/app.ndjson', problem: 'its operation is neither create nor index' },
  },
} as const satisfies Entries<'input'>
