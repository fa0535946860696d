import type { Entries } from '../entry.js'

/** Inputs that cannot be read, and documents in them that cannot be sent. */
export const inputEntries = {
  INPUT_NOT_FOUND: {
    stage: 'input',
    exit: 2,
    retry: 'no',
    title: 'An input does not exist',
    message: 'no such input: {input}',
    observed: 'ENOENT, "No such file or directory". Or a loader that loads nothing and ends well.',
    causes: [
      'The path is mistyped, or relative to another folder.',
      { cause: 'The glob matches no file.', if: /[*?[{]/ },
    ],
    fixes: ['Check the path with `ls`. Quote globs, so that Sluice expands them and not the shell.'],
    example: { input: 'logs/*.ndjson' },
  },
  INPUT_UNREADABLE: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'Sluice cannot read an input',
    message: 'cannot read {input}: {problem}',
    observed: 'EACCES, EISDIR or EIO. "incorrect header check" if the data do not fit the name of the file.',
    causes: [
      { cause: 'The user that runs Sluice may not read the file.', if: /permission|EACCES|EPERM/i },
      { cause: 'The path is that of a directory.', if: /director|folder|EISDIR/i },
      {
        cause: 'The compressed data are damaged.',
        if: /header|gzip|zstd|data|decompress|check|invalid|corrupt/i,
      },
      { cause: 'The disk, the network or the stream failed.', if: /EIO|ECONN|ETIME|stream|abort|i\/o/i },
    ],
    fixes: [
      "Grant read permission on the file. To load the files of a directory, pass a glob ('dir/*.ndjson').",
      'If the file is damaged, fetch it again from its source.',
    ],
    example: { input: 'logs/app.ndjson', problem: 'permission denied' },
  },
  INPUT_TRUNCATED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input ends too early',
    message:
      '{input} is truncated: its {encoding} data end after {bytes} decoded bytes, and Sluice loaded every complete document',
    observed: 'gzip says "unexpected end of file". Other loaders stop in the middle, or take the part for the whole.',
    causes: ['The file was still being written or copied.', 'A download or upload broke off.', 'The disk was full.'],
    fixes: ['Fetch the whole file again and run the same command: it continues after the documents that are loaded.'],
    example: { input: 'logs/app.ndjson.gz', encoding: 'gzip', bytes: 10_485_760 },
  },
  INPUT_UNENDED: {
    stage: 'input',
    exit: 5,
    retry: 'later',
    title: 'Spooled stdin has no end',
    message: 'stdin was cut off after {bytes} bytes. Sluice loaded every complete document',
    observed: 'If a pipe to another loader is killed, nothing shows where it broke off.',
    causes: [
      'The process that spooled stdin (wrote it to disk while loading it) stopped before stdin ended.',
      'The disk was full.',
    ],
    fixes: [
      'If the run had --run-id or --ids field, pipe the whole of stdin to the same command again. Sluice stores no document twice.',
      'Otherwise load only the missing part. The receipt says how many documents Sluice read.',
      'For gzip or a JSON array, the missing part is no valid input. Run `sluice undo RUN`, then pipe the whole of stdin again.',
    ],
    example: { bytes: 48_210_944 },
  },
  INPUT_MALFORMED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input is not in its format',
    message: '{input} is not valid {format}: {problem}',
    observed: '"Unexpected token" or "Unexpected end of JSON input", usually without the position.',
    causes: ['The format of the file does not fit its name.', 'The JSON breaks off or has a syntax error.'],
    fixes: [
      'Repair the file, or pass its format: --format ndjson or --format json. --pick selects an array inside a JSON document.',
    ],
    example: { input: 'export.json', format: 'json', problem: 'it has no array at --pick items' },
  },
  INPUT_CHANGED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input changed while its run was unfinished',
    message: '{input} changed after run {run} loaded {documents} documents from it: {observed}',
    observed:
      'Tools that skip by number or byte offset continue in the wrong place. They leave documents out or load them twice.',
    causes: [
      'The file was replaced, rotated or edited after the run was interrupted.',
      'Another file now has this name.',
    ],
    fixes: [
      'Put the old content back and run the same command: it continues after the last settled document.',
      'Or give the run up with `sluice runs rm RUN`, and load the new content from its start. The documents of the old content stay in the index.',
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
      'Status 400 for a whole bulk request, "Malformed action/metadata line" or "Unexpected character". Every other document of the request is refused too.',
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
  DOCUMENT_TOO_LARGE: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document is larger than a request may be',
    message: 'the document has {bytes} bytes, the limit is {limit}',
    observed: 'Status 413 with an empty body, or ECONNRESET and "socket hang up" while the request is being sent.',
    causes: [
      'Line ends are missing.',
      'A document contains a large attachment.',
      'The cluster or a gateway has a lower request limit.',
    ],
    fixes: ['Split the document. Elasticsearch accepts at most http.max_content_length (100mb) in one request.'],
    example: { bytes: 104_857_900, limit: 100_000_000 },
  },
  DOCUMENT_ID_INVALID: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document has no usable id',
    message: 'the field {field} {problem}',
    observed:
      'Documents with the id "undefined" or "null" that overwrite each other, or an error about an id of more than 512 bytes.',
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
    observed: 'Only `sluice replay` reads dead letters, the file of rejected documents and their reasons.',
    causes: [
      'The process that wrote the line was killed, and its run was not resumed. A resumed run writes the line again.',
      'Somebody edited the line, and a field that replay needs is missing or has the wrong type.',
    ],
    fixes: [
      'Resume the run that wrote the file, or repair the line: it needs `operation`, `origin`, and one of `document`, `line` or `base64`. The new dead letters hold the original line.',
    ],
    example: { problem: 'it has no operation create or index' },
  },
  NOT_DEAD_LETTERS: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'A file holds no dead letters',
    message: '{input} is not a file of dead letters: {problem}',
    observed: 'Only `sluice replay` reads dead letters, the file of rejected documents and their reasons.',
    causes: [
      'The file is another one: the input of the load, or documents that were repaired outside the dead letters.',
      'An editor split the records into several lines, or saved them in another encoding than UTF-8.',
    ],
    fixes: [
      'Pass the dead letters file that the receipt of the load names. To repair a document there, change only the value of `document`.',
      'Load documents without such a record with `sluice ingest`, like any other input.',
    ],
    example: { input: 'logs/app.ndjson', problem: 'it has no operation create or index' },
  },
} as const satisfies Entries<'input'>
