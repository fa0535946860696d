/** Where the oracle is lenient: each rule has a name, and the page that says so. A use of each is counted. */
const leniencies = {
  'an input changed while its load was unfinished':
    'docs/guide/same-input.md: edited behind what was read continues, edited before that is refused. A user cannot see how far a load came',
  'a document was edited while its load was unfinished':
    'the same, with ids from fields: the index holds one edition of it',
  'written by others while a load was unfinished':
    'docs/guide/same-input.md: what was settled before is not sent again, whoever writes it meanwhile',
  'a run name without the state':
    'docs/guide/interrupted-and-stdin.md: without the state, the same name is only for the same bytes',
  'too many rejected':
    'docs/guide/bad-input-and-replay.md: the load stops. What was sent until then depends on its batches',
  'an unfinished spool': 'docs/guide/interrupted-and-stdin.md: the next run loads the spool first, then the new stdin',
  'a receiver that counts what a killed one has loaded': 'docs/guide/serve.md: the number includes such documents',
  'tables whose index was lost, or whose load did not end well':
    'docs/guide/servicenow.md: reads all rows of a new index. Which of them a load that ended early had read is not seen',
  'a killed spool': 'docs/guide/interrupted-and-stdin.md: Sluice did not see the end of stdin, exit code 5',
  'lost answers and ids from fields':
    'docs/guide/updates-and-deletes.md: stored by Sluice or by somebody else counts as unknown',
  'undo after a replay': 'docs/guide/verify-and-undo.md: undo deletes only what the run created',
  'replay without its state or index':
    'docs/guide/bad-input-and-replay.md: sends all documents again, under the same ids',
  'other content that a run covered':
    'docs/guide/verify-and-undo.md: a run that was continued or covered by later ones is looked up by what the state still holds',
  'a copy of unfinished content':
    'docs/guide/same-input.md: interrupted, then copied, and both files exist: continues, and loads the copy',
  'an object that was edited, and is no input of the load':
    'docs/guide/same-input.md: Sluice fetches only its first bytes. If they are as before, it takes the object for the one that it loaded',
  'a copy of a rotated file':
    'docs/guide/same-input.md: loads a copy if both files exist, and nothing of it if the first one is no longer where it was. Both hold',
  'a followed name that no file has':
    'docs/guide/follow.md: Sluice looks for earlier files of a name as soon as a file has that name',
  'a followed file without a document':
    'docs/guide/follow.md: only plain NDJSON can be followed. Lines of which none is a document are not recognised as that',
  'a document that arrived while its index was deleted':
    'docs/failures.md: REQUEST_REFUSED. Elasticsearch may have made the index of a request that it then no longer finds',
  'a followed file whose time was set back': 'docs/guide/follow.md: Sluice goes by the times of files',
  'rotated in the millisecond of the next line':
    'docs/guide/follow.md: only files that were written after the last one that Sluice knows count',
  'rotated files after the index was lost':
    'docs/guide/follow.md names only files since the last one that Sluice knows. After the index is lost, Sluice knows none',
  'again, and not finished':
    'docs/guide/same-input.md: interrupted, then with --again: continues. An input that the state does not show as begun is loaded again',
  'changes of an index that was lost':
    'docs/guide/same-input.md: an index is known by what a run stored in it. Updates that were all rejected stored nothing',
  'forgotten after the index was lost':
    'docs/guide/interrupted-and-stdin.md: runs rm forgets only what that run noted. An earlier one knows the same inputs, and their ids',
  'a run that was undone, and its unfinished successor':
    'docs/guide/verify-and-undo.md: a run that continued behind another one keeps the lines before its own as loaded',
  'forgotten after an unfinished load':
    'docs/guide/interrupted-and-stdin.md: the same. The run that was not finished has begun these inputs',
  'an index that was lost, and two machines with one state':
    'docs/guide/interrupted-and-stdin.md: each machine loads the run again that both know, under the same ids',
  'other options after all was rejected':
    'docs/guide/same-input.md: another option, and all documents were rejected before: loads the whole file',
  'the next lines of a run that was forgotten':
    'docs/guide/interrupted-and-stdin.md: the same. An earlier run knows the lines before them',
  'an input that changed while its job was open':
    'docs/guide/many-workers.md: an object was replaced after the job was planned. Its ranges fail, and the receipt names them',
  'the rest of a group':
    'docs/guide/many-workers.md: if one small input of a group is replaced, Sluice loads the rest of its group again, under the same ids',
  'an input of a job, as it is now':
    'docs/guide/many-workers.md: a changed input is loaded again. If its lines keep their ids, they count as duplicate',
  'an index that is no longer behind its alias':
    'docs/guide/verify-and-undo.md: Sluice does not look there. Its documents count as missing, and undo keeps the run',
  'an index that the key may not see':
    'docs/guide/same-input.md: without view_index_metadata, Sluice cannot notice that an index was made anew, and says so',
  'a load whose disk failed, and undo':
    'docs/failures.md, STATE_UNWRITABLE: what a run stored after its last checkpoint is not known to undo',
  'a corrected dead letter has fewer fields':
    'docs/guide/bad-input-and-replay.md: a dead letter is sent as the user corrected it',
  'a name of several runs': 'docs/guide/verify-and-undo.md: a name that several runs have is refused',
} as const

export type Leniency = keyof typeof leniencies
