/**
 * What goes wrong, each alone.
 *
 * plant      on the lab's control, before the first run; default: nothing
 * input      kind of inputs.js; default: the plain one
 * batch      documents in a request; default 200
 * named      what the output has to say for the cause to be named
 * again      whether the command is run once more, with the fault over, when it ended with another exit code than 0. Not where the
 *            input is at fault: then a person would look first
 * kill       SIGKILL at this share of the documents, then the command is run again
 * twice      two of them at once
 * refused    file for refused documents, in the first run
 * ids        whether it is also run with ids from the documents
 * bigIntegers  whether the documents have integers that a double does not hold
 * note       what else a reader has to know
 */
const json = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }
const refusal = (type, reason, status) =>
  JSON.stringify({ error: { root_cause: [{ type, reason }], type, reason }, status })
const busy = 'es_rejected_execution_exception'

export const faults = {
  none: { title: 'Nothing goes wrong', again: false },
  filter: {
    title: 'The IP filter refuses from bulk request 50 on, for 20 seconds',
    plant: control => control.plant({ filter: { after: 49, forMs: 20_000 } }),
    named: /traffic filter|IP filter/i,
    again: true,
    ids: true,
  },
  half: {
    title: 'One of the two static addresses is not allowed',
    plant: control => control.register('first'),
    note: 'The proxy chooses for each connection: a loader with a single one has an even chance not to notice.',
    named: /traffic filter|IP filter/i,
    again: true,
    ids: true,
  },
  login: {
    title: 'The proxy answers one CONNECT with 407',
    plant: control => control.plant({ login: { times: 1 } }),
    named: /407|proxy auth|PROXY_AUTH|proxy rejected the credentials/i,
    again: true,
  },
  closes: {
    title: 'The proxy closes the connection on CONNECT, three times',
    plant: control => control.plant({ handshake: { kind: 'fin', times: 3 } }),
    named: /proxy/i,
    again: true,
  },
  page: {
    title: 'Three bulk requests get a 502 with an HTML page',
    plant: control =>
      control.plant({
        bulk: {
          after: 20,
          times: 3,
          status: 502,
          headers: { 'content-type': 'text/html' },
          body: '<html><body><h1>502 Bad Gateway</h1></body></html>',
        },
      }),
    named: /502|bad gateway/i,
    again: true,
  },
  busy: {
    title: 'Eight bulk requests in a row get a 429 with Retry-After: 1',
    plant: control =>
      control.plant({
        bulk: {
          after: 20,
          times: 8,
          status: 429,
          headers: { ...json, 'retry-after': '1' },
          body: refusal(busy, 'rejected execution of coordinating operation', 429),
        },
      }),
    named: /429|overload|rejected_execution/i,
    again: true,
    ids: true,
  },
  items429: {
    title: 'One item in ten is refused with 429, of the first 5,000',
    plant: control =>
      control.plant({ items: { every: 10, times: 500, status: 429, type: busy, reason: 'queue is full' } }),
    named: /429|overload|rejected_execution|queue is full/i,
    again: true,
  },
  items503: {
    title: 'One hundred items are refused with 503',
    plant: control =>
      control.plant({
        items: {
          after: 4000,
          times: 100,
          status: 503,
          type: 'unavailable_shards_exception',
          reason: 'primary is away',
        },
      }),
    named: /503|unavailable/i,
    note: 'With `raise_on_error=False`, `streaming_bulk` yields what was refused without the document: what is written down does not tell which it was.',
    // What was refused is in a file of its own, where a file is kept: nobody loads everything again for it.
    again: false,
  },
  large: {
    title: 'Requests above 1 MB get a 413, and bodies are 1.4 MB',
    plant: control => control.setMaxContentBytes(1_000_000),
    batch: 5000,
    named: /413|too large/i,
    again: false,
  },
  largeDocument: {
    title: 'One document is larger than the cluster will ever take',
    plant: control => control.setMaxContentBytes(1_000_000),
    input: 'large',
    named: /413|too large/i,
    again: false,
    // It belongs into no index.
    without: 1,
  },
  halfStored: {
    title: 'A 400 after half of the body was stored',
    plant: control =>
      control.plant({
        bulk: {
          after: 20,
          times: 1,
          status: 400,
          stored: 'half',
          headers: json,
          body: refusal('illegal_argument_exception', 'Malformed action/metadata line [201]', 400),
        },
      }),
    named: /400|malformed|illegal_argument/i,
    again: true,
    ids: true,
  },
  lost: {
    title: 'Two answers are lost after their bodies were stored',
    plant: control => control.plant({ drop: { after: 20, times: 2 } }),
    named: /hang ?up|connection|aborted|closed/i,
    again: true,
    ids: true,
  },
  kill: {
    title: 'Killed with SIGKILL at 40 %, and started again',
    kill: 0.4,
    again: true,
    ids: true,
  },
  unended: {
    title: 'The last line has no line end',
    input: 'unended',
    again: false,
  },
  untidy: {
    title: 'A byte order mark, CRLF, blank lines, and three lines that are no JSON',
    note: 'A carriage return at the end of a document is not taken for an alteration.',
    input: 'untidy',
    named: /json|parse|5003|line/i,
    again: false,
  },
  digits: {
    title: 'Integers of 19 digits',
    bigIntegers: true,
    note: 'elasticdump has `--support-big-int`. With ids from the documents, the program around `helpers.bulk` and the one around `streaming_bulk` have to parse them.',
    input: 'long',
    again: false,
    ids: true,
  },
  twice: {
    title: 'The same job runs twice at once',
    twice: true,
    note: 'Sluice is given `--run-id nightly`: a run without a name has ids of its own, and two of them are two loads.',
    again: false,
    ids: true,
  },
  fullDisk: {
    title: 'Fifty documents are refused, and the disk for them is full',
    note: 'elasticdump keeps no file of what is refused. The second run finds a disk with room, and no refusals.',
    plant: control =>
      control.plant({
        items: {
          after: 4000,
          times: 50,
          status: 400,
          type: 'document_parsing_exception',
          reason: 'failed to parse field [n]',
        },
      }),
    refused: '/dev/full',
    named: /ENOSPC|no space|disk|dead letter/i,
    again: true,
  },
}
