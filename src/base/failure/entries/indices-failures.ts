import type { Entries } from '../entry.js'

const tooManyShards = /maximum (normal |frozen )?shards open/
const sameName = /did not create|an earlier load with the name/
const byTemplate = /an index template put it/
const severalIndices = /: it is on \d+ indices|an index template put it/

/** Refused by an index, its mapping or its alias. */
export const indexEntries = {
  INDEX_BLOCKED: {
    title: 'The index accepts no writes',
    message: 'the index {index} is blocked: {reason}',
    observed:
      'Status 403 or 429 with cluster_block_exception. FORBIDDEN/12 and TOO_MANY_REQUESTS/12 mean a full disk. Loaders that retry on 429 then wait forever.',
    causes: [
      {
        cause: "The cluster's disk is nearly full. Above the flood-stage watermark, Elasticsearch accepts no writes.",
        if: /\/12\/|disk|flood|allow_delete/i,
      },
      {
        cause: 'Somebody made the index read-only (index.blocks.write or index.blocks.read_only).',
        if: /\/[58]\/|blocks\.(write|read_only)(?!_allow)|index write|read-only \(/i,
      },
    ],
    fixes: [
      'If the disk is full, give the deployment more disk in the Elastic Cloud console, or delete indices. The block then ends by itself.',
      'Remove a block that somebody set: PUT /<index>/_settings {"index.blocks.write": null}. Then run the same command again. It continues where it stopped.',
    ],
    example: { index: 'logs-app', reason: 'index [logs-app] blocked by: [FORBIDDEN/8/index write (api)];' },
  },
  IDS_REFUSED: {
    title: 'The index makes the ids itself',
    message: '{index} accepts no ids: {reason}',
    observed: 'Every document is rejected with 400: "_id must be unset or set to", followed by "time_series mode".',
    causes: [
      'The target is a time-series data stream. It makes the id of a document from its time and its dimension fields.',
    ],
    fixes: [
      'Load with --ids cluster. The data stream never stores the same measurement twice. If an answer is lost, the document counts as unknown. You cannot verify or undo such a run.',
    ],
    example: {
      index: 'metrics-app',
      reason: '_id must be unset or set to [Zd3a] but was [k4xq-1] because [metrics-app] is in time_series mode',
    },
  },
  TOO_MANY_REJECTED: {
    title: 'More documents were rejected than allowed',
    message: '{rejected} documents were rejected, but --max-rejected allows {limit}',
    observed: 'A loader that reports success, but an index that holds fewer documents than the input.',
    causes: ['The mapping of the index does not fit the documents.', 'The input is not what the index expects.'],
    fixes: [
      'Read the reasons in the dead letters (the file of rejected documents). Correct the mapping or the documents, and run `sluice replay FILE`. Then run the same command again. It loads what is left, and --max-rejected counts from zero again. With --swap-alias, --max-rejected still counts all documents of the new index. Leave it out, and keep FILE.',
      'Or run the same command again, and replay later. It loads what is left and what is new. Until you replay the documents, it ends with REJECTED_NOT_REPLAYED.',
      'If you correct the input itself, run `sluice undo RUN` before you load it. Sluice treats the corrected file as a new input.',
    ],
    example: { rejected: 1204, limit: 100 },
  },
  REJECTED_NOT_REPLAYED: {
    title: 'Too many documents were rejected before, and these are not replayed',
    message: 'too many documents were rejected before, and {documents} of run {run} are not replayed: {deadLetters}',
    observed:
      'A nightly load that failed once, and then succeeds without documents, because all of its files are known.',
    causes: ['Nobody has replayed or deleted the dead letters of that run. This load itself is complete.'],
    fixes: [
      'Correct the mapping or the documents, and run `sluice replay FILE` with the file of dead letters.',
      'Or delete that file, if you do not need its documents. Then the same command succeeds.',
      'Or pass --again to load all files again. If documents of that run are stored, run `sluice undo RUN` first.',
    ],
    example: { run: '20261127T020000Z-1b9c3e', documents: 500, deadLetters: '/var/lib/sluice/dead.ndjson' },
  },
  TOO_MANY_INDICES: {
    title: 'The documents name more indices than allowed',
    message: 'the documents name more than {limit} indices: the next one is {index}, and --max-indices allows {limit}',
    observed: 'Thousands of small indices, and then "this cluster currently has maximum normal shards open".',
    causes: [
      'The field in --index has many different values, for example user names, or dates with hours.',
      'The input covers more days, or has more values of the field, than --max-indices allows.',
    ],
    fixes: [
      'Choose a field with fewer values, or a coarser date format such as yyyy.MM. Sluice has sent nothing to the next index.',
      'Or raise --max-indices and run the same command again. It continues where it stopped.',
    ],
    example: { limit: 100, index: 'logs-2026.04.11' },
  },
  INDEX_REQUEST_REFUSED: {
    title: 'The cluster refuses a request about an index',
    message: '{cluster} refused {request} with status {status}: {reason}',
    observed: 'Status 400 with mapper_parsing_exception, illegal_argument_exception or parsing_exception.',
    causes: [
      {
        cause: '--index-body contains a setting or mapping that this cluster does not accept.',
        unless: tooManyShards,
      },
      { cause: 'The new index cannot use a setting of the previous index.', unless: tooManyShards },
      { cause: 'The cluster has reached its limit of shards (cluster.max_shards_per_node).', if: tooManyShards },
      { cause: '--check-query is not a query that this cluster understands.', if: /parsing|query|_search|_count/i },
    ],
    fixes: [
      {
        fix: 'Correct --check-query, or pass the settings and mapping of the new index with --index-body. Sluice has not switched the alias.',
        unless: tooManyShards,
      },
      {
        fix: 'Delete indices that nobody needs, or add a node. Then run the same command again.',
        if: tooManyShards,
      },
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      request: 'PUT /products-20261121t093000z-4f1c2a',
      status: 400,
      reason: 'mapper_parsing_exception: No handler for type [strin]',
    },
  },
  MAPPING_DIFFERS: {
    title: 'The mapping in the cluster differs from the file',
    message: '{what} differs from {option}: {observed}. Sluice changed nothing',
    observed: 'Documents that are rejected with document_parsing_exception, or numbers that sort as text.',
    causes: [
      'Somebody created the index with another mapping, or Elasticsearch derived the mapping from the first documents.',
      'The file was changed after the index was made. Elasticsearch cannot change the type of a field that exists.',
      { cause: 'The cluster has another version of the template.', if: /--template/ },
    ],
    fixes: [
      {
        fix: 'To add fields that are missing, send the file: PUT /INDEX/_mapping. Then run the same command again.',
        if: /is missing/,
        unless: /--template/,
      },
      {
        fix: 'To change the type of a field, fill a new index: use --swap-alias with --mapping, or choose another name with --index.',
        unless: /--template/,
      },
      { fix: 'To replace the template, send the file: PUT /_index_template/NAME.', if: /--template/ },
      'To keep what the cluster has, correct the file or leave the option out.',
    ],
    example: { what: 'the mapping of orders', option: '--mapping', observed: 'total is text, not long' },
  },
  MAPPING_NOT_COPIED: {
    title: 'The target refuses the mapping of the other cluster',
    message: 'the target refuses to create {index} like {input}: {reason}',
    observed:
      'Status 400 with mapper_parsing_exception or illegal_argument_exception. The reason names the field or the setting.',
    causes: [
      {
        cause:
          'A field has a type that the target does not know, for example because a plugin is missing or its version is older.',
        if: /No handler for type|plugin|not (currently )?supported/i,
      },
      {
        cause: 'The mapping has a parameter that newer versions removed, for example boost or include_in_all.',
        if: /unknown parameter|unsupported parameter|parameter \[/i,
      },
      {
        cause: 'The target does not know a setting, or a part of the analysis such as a filter.',
        if: /unknown setting|setting \[|analyzer|tokenizer|filter/i,
      },
      {
        cause: 'The other cluster has a data stream of this name, and no index template of the target makes one.',
        if: /index template|data stream/i,
      },
      'The target does not accept another part of the mapping or the settings.',
    ],
    fixes: [
      {
        fix: 'Create the index template of the data stream on the target with PUT /_index_template/NAME and "data_stream": {}. Then run the same command again.',
        if: /index template|data stream/i,
      },
      'Save the mapping with GET /INDEX/_mapping of the other cluster. Change what the reason names, and pass the file with --mapping FILE.',
      'Or create the index yourself with PUT /INDEX, and run the same command again without --mapping.',
    ],
    example: {
      index: 'orders',
      input: 'elasticsearch:orders',
      reason:
        'mapper_parsing_exception: Failed to parse mapping: unknown parameter [boost] on mapper [title] of type [text]',
    },
  },
  REHEARSAL_REFUSED: {
    exit: 1,
    title: 'The index would reject some of the documents',
    message: '{index} would reject {refused} of {shapes} shapes: {observed}',
    observed: 'document_parsing_exception for some documents of a load, after the others are stored.',
    causes: [
      'A field holds values of several types, and the mapping accepts only one of them.',
      'Elasticsearch derived the mapping from other documents, or the mapping is strict.',
      { cause: 'The ingest pipeline fails for these documents.', if: /pipeline|processor/i },
    ],
    fixes: [
      'Correct these documents, or load all documents anyway. The index then stores the others, and Sluice writes the rejected documents to the dead letters.',
      'Or load into a new index with a mapping that accepts all values. `sluice infer FILE` proposes one.',
    ],
    example: {
      index: 'orders',
      refused: 3,
      shapes: 214,
      observed: 'total is text in 1.2% of documents, first at orders.csv, line 812',
    },
  },
  ALIAS_CONFLICT: {
    title: 'Sluice cannot switch the alias',
    message: 'cannot switch the alias {alias}: {observed}',
    observed: 'Searches see a half-loaded index, or two at once. Also invalid_alias_name_exception.',
    causes: [
      { cause: 'Another load, a rollback or a person switched the alias in the meantime.', if: /: it was on / },
      { cause: 'Another load has the same name (--run-id).', if: sameName },
      { cause: 'An index or a data stream has the name that the alias should have.', if: /has this name/ },
      { cause: 'Somebody put the alias on several indices.', if: severalIndices },
      { cause: 'An index template puts the alias on every new index.', if: byTemplate },
    ],
    fixes: [
      {
        fix: 'If two loads ran at once, the alias is on the index of one of them. Forget the other load with `sluice runs rm RUN`, or switch to its index with `sluice rollback ALIAS --to INDEX`.',
        if: /: it was on /,
      },
      { fix: 'Choose another --run-id for this load.', if: sameName },
      {
        fix: 'Copy the index (POST _reindex). Then replace it with an alias in one step: POST _aliases {"actions":[{"remove_index":{"index":"NAME"}},{"add":{"index":"COPY","alias":"NAME"}}]}.',
        if: /an index has this name/,
      },
      { fix: 'Pass another name with --swap-alias.', if: /has this name/ },
      {
        fix: 'Remove the alias from all indices but one (POST _aliases), and from the index template if it is there.',
        if: severalIndices,
      },
    ],
    example: { alias: 'products', observed: 'an index has this name' },
  },
  LOAD_CHECK_FAILED: {
    title: 'The loaded index did not pass its checks',
    message: 'Sluice loaded the index {index} but did not switch {alias}: {observed}',
    observed: 'Tools that switch without a check give users a half-empty index.',
    causes: [
      { cause: 'Documents were rejected, but --max-rejected allows fewer.', if: /reject/i },
      {
        cause: 'The index holds more or fewer documents than the run stored, because another program writes to it.',
        if: /holds|stored/i,
      },
      { cause: '--check-query found too few documents.', if: /query|found|hits/i },
    ],
    fixes: [
      {
        fix: 'Correct the dead letters or the mapping of the new index. Run `sluice replay FILE`, then the same command again without --max-rejected. This needs the dead letters, and does not work with --ids cluster.',
        if: /reject/i,
      },
      'Correct the limit, the query or the index. Then run the same command again. It loads nothing twice and repeats the checks. Sluice has not switched the alias, and keeps the new index.',
      'To use the index as it is, run `sluice rollback ALIAS --to INDEX`, or add the alias yourself if no index has it. To forget the load, run `sluice runs rm RUN` and delete the index.',
    ],
    example: {
      index: 'products-20261121t093000z-4f1c2a',
      alias: 'products',
      observed: 'the run stored 48,210 documents, but the index holds 48,190',
    },
  },
  ROLLBACK_IMPOSSIBLE: {
    title: 'There is no index to roll back to',
    message: 'cannot roll back the alias {alias}: {observed}',
    observed: 'aliases_not_found_exception or index_not_found_exception, or an alias on no index afterwards.',
    causes: [
      {
        cause: 'The name of the alias is mistyped, or no load with --swap-alias has created the alias yet.',
        if: /no such alias/,
      },
      {
        cause: 'No load with --swap-alias has switched the alias yet, or the first such load created it.',
        if: /has no record/,
      },
      { cause: 'The index was deleted, or its name is mistyped.', if: /there is no index/ },
      { cause: 'An earlier rollback or load switched the alias to this index.', if: /already on/ },
      { cause: 'The load into that index is still running, or was interrupted.', if: /has not finished/ },
    ],
    fixes: [
      { fix: 'Correct the name of the alias. `sluice runs` lists your loads.', if: /no such alias/ },
      { fix: 'Run the interrupted load again until it finishes.', if: /has not finished/ },
      { fix: 'Name the index for the alias: `sluice rollback ALIAS --to INDEX`.', unless: /no such alias/ },
    ],
    example: { alias: 'products', observed: 'products-20261121t093000z-4f1c2a has no record of the previous index' },
  },
  UNDO_LOADED_AGAIN: {
    title: 'A later run has loaded the documents again',
    message: 'run {later} loaded documents of run {run} again, under the same ids. Sluice deleted nothing',
    observed: 'Somebody deletes by the ids of an old load, and the documents of the newer load are gone.',
    causes: [
      'The index was deleted and made anew, and the same command loaded everything again. The documents that are there belong to the later run.',
    ],
    fixes: [
      'To delete the documents, undo the later run that the message names: `sluice undo LATER`.',
      'If the documents are right, forget the earlier run: `sluice runs rm RUN`.',
    ],
    example: { run: '20261121T093000Z-4f1c2a', later: '20261124T093000Z-b81d07' },
  },
  UNDO_BEHIND_ALIAS: {
    title: 'Searches use the index that undo would empty',
    message: 'undo of run {run} would empty {index}, the current index of the alias {alias}. Sluice deleted nothing',
    observed: 'Somebody deletes what a load stored, and searches find nothing from then on.',
    causes: ['The run was a load with --swap-alias, and the alias is on its index.'],
    fixes: [
      'Switch the alias back first: `sluice rollback ALIAS`, or `sluice rollback ALIAS --to INDEX`. Searches then no longer see the load. Then undo the run, or delete its index.',
      'If there is no previous index, first load the right documents with --swap-alias, or remove the alias.',
    ],
    example: { run: '20261121T093000Z-4f1c2a', index: 'products-20261121t093000z-4f1c2a', alias: 'products' },
  },
} as const satisfies Entries
