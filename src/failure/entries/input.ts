import type { Entries } from '../entry.js'

/** Inputs that cannot be read, and documents in them that cannot be sent. */
export const inputEntries = {
  INPUT_NOT_FOUND: {
    stage: 'input',
    exit: 2,
    retry: 'no',
    title: 'An input does not exist',
    message: 'no such input: {input}',
    causes: ['The path is mistyped or relative to another folder.', 'A glob matches nothing.'],
    fixes: ['Check the path with `ls`; quote globs, so that Sluice and not the shell expands them.'],
  },
  INPUT_UNREADABLE: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input cannot be read',
    message: 'cannot read {input}: {problem}',
    causes: ['The user that runs Sluice may not read the file.', 'It is a directory, or its disk or stream failed.'],
    fixes: ["Grant read permission; name the files of a directory with a glob ('dir/*.ndjson')."],
  },
  INPUT_TRUNCATED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input ends too early',
    message:
      '{input} is truncated: its {encoding} data ends in the middle, {bytes} decoded bytes in; what was whole was loaded',
    causes: ['The file was still being written or copied.', 'A download or upload broke off.', 'The disk was full.'],
    fixes: ['Get the whole file again and run the same command: it goes on behind what was loaded.'],
  },
  INPUT_UNENDED: {
    stage: 'input',
    exit: 5,
    retry: 'later',
    title: 'Spooled stdin lacks its end',
    message: '{input} has no end: {observed}; what was whole of it is loaded',
    causes: ['The process that spooled it was stopped before it saw the end of stdin.', 'The disk was full.'],
    fixes: [
      'Load what is missing from where it came from: the receipt tells how many documents were read before it broke off.',
    ],
  },
  INPUT_MALFORMED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input is not in its format',
    message: '{input} is not valid {format}: {problem}',
    causes: ['The file is in another format than its name says.', 'The JSON breaks off or has a syntax error.'],
    fixes: [
      'Repair the file, or say what it is with --format ndjson or --format json; --pick selects an array inside a JSON document.',
    ],
  },
  INPUT_CHANGED: {
    stage: 'input',
    exit: 3,
    retry: 'no',
    title: 'An input changed while its run was unfinished',
    message: '{input} is not what run {run} loaded {documents} documents of: {observed}',
    causes: ['The file was replaced, rotated or edited after the run was interrupted.', 'Another file got its name.'],
    fixes: [
      'Put the old content back and run the same command: it goes on behind the last document that is settled.',
      'Or give the run up: `sluice runs rm RUN`, and load the new content from its start. What was loaded of the old one stays in the index.',
    ],
  },
  DOCUMENT_NOT_JSON: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a JSON object',
    message: 'not one JSON object: {problem}',
    causes: [
      'The line holds an array, a number, text, or broken JSON.',
      'The line is not UTF-8.',
      'A document is spread over several lines.',
    ],
    fixes: [
      'The dead letters hold the untouched line and its position. Write one JSON object a line; for a JSON array use --format json.',
    ],
  },
  DOCUMENT_TOO_LARGE: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document is larger than a request may be',
    message: 'the document has {bytes} bytes, the limit is {limit}',
    causes: [
      'Line ends are missing.',
      'A document carries a large attachment.',
      'The cluster or a gateway lowered its request limit.',
    ],
    fixes: ['Split the document. Elasticsearch takes at most http.max_content_length (100mb) in one request.'],
  },
  DOCUMENT_ID_INVALID: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A document has no usable id',
    message: 'the field {field} {problem}',
    causes: ['The field is missing, empty, null, or not a string or number.', 'The id has more than 512 bytes.'],
    fixes: ['Choose another --id-field, or let Sluice make the ids (--ids run).'],
  },
  DEAD_LETTER_BROKEN: {
    stage: 'input',
    exit: 1,
    retry: 'no',
    title: 'A line is not a dead letter',
    message: 'not a dead letter: {problem}',
    causes: [
      'The process that wrote the line was killed, and its run was not resumed: a resume writes it anew.',
      'The line was edited, and a field that replay needs is missing or of another kind.',
    ],
    fixes: [
      'The new dead letters hold the untouched line. Resume the run that wrote the file, or repair the line: `operation` and `origin` have to be there, and `document`, `line` or `base64`.',
    ],
  },
} as const satisfies Entries<'input'>
