import type { Entries } from '../entry.js'

/** Refused by an index, its mapping or its alias. */
export const indexEntries = {
  INDEX_BLOCKED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index takes no writes',
    message: 'the index {index} is blocked: {reason}',
    observed:
      'Status 403 or 429 with cluster_block_exception. FORBIDDEN/12 and TOO_MANY_REQUESTS/12 are a full disk: loaders that send again on 429 wait for ever.',
    causes: [
      "The cluster's disk is nearly full: past the flood-stage watermark Elasticsearch takes no more writes.",
      'Somebody made the index read-only (index.blocks.write or index.blocks.read_only).',
    ],
    fixes: [
      'In the cluster console, give the deployment more disk, or delete what is not needed; the block goes away by itself then.',
      'Remove a block that was set: PUT /<index>/_settings {"index.blocks.write": null}. Then run the same command again: it goes on where it stopped.',
    ],
    example: { index: 'logs-app', reason: 'index [logs-app] blocked by: [FORBIDDEN/8/index write (api)];' },
  },
  IDS_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index makes its ids itself',
    message: '{index} takes no ids: {reason}',
    observed: 'Every document is refused with 400: "_id must be unset or set to", and "time_series mode" behind it.',
    causes: [
      'It is a time-series data stream, which makes the id of a document from its time and the fields that name what was measured.',
    ],
    fixes: [
      'Load with --ids cluster. The same measurement is then never stored twice; but a document whose answer was lost counts as unknown, and the run can be neither verified nor undone.',
    ],
    example: {
      index: 'metrics-app',
      reason: '_id must be unset or set to [Zd3a] but was [k4xq-1] because [metrics-app] is in time_series mode',
    },
  },
  TOO_MANY_REJECTED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'More documents were rejected than allowed',
    message: '{rejected} documents rejected, {limit} allowed (--max-rejected)',
    observed: 'A loader that ends well, and an index that holds fewer documents than the input.',
    causes: [
      'The mapping of the index (the types of its fields) does not fit the documents.',
      'The input is not what the index expects.',
    ],
    fixes: [
      'The dead letters, the file of refused documents, hold each with its reason. Correct the mapping, or the documents in them, and send them again: `sluice replay FILE`.',
      'Or raise --max-rejected. An input that was corrected is another input: before it is loaded, `sluice undo RUN` takes away what is stored of this one.',
    ],
    example: { rejected: 1204, limit: 100 },
  },
  INDEX_REQUEST_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses a request about an index',
    message: '{cluster} refused {request} with status {status}: {reason}',
    observed: 'Status 400 with mapper_parsing_exception, illegal_argument_exception or parsing_exception.',
    causes: [
      '--index-body holds a setting or mapping that this cluster does not take.',
      'A setting of the index before cannot be taken over.',
      '--check-query is no query that this cluster knows.',
    ],
    fixes: [
      'Read the reason; correct --check-query, or say with --index-body how the index is to be made. The alias is where it was.',
    ],
    example: {
      cluster: 'https://cluster.example:9243',
      request: 'PUT /products-20261121t093000z-4f1c2a',
      status: 400,
      reason: 'mapper_parsing_exception: No handler for type [strin]',
    },
  },
  ALIAS_CONFLICT: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The alias cannot be switched',
    message: 'the alias {alias} cannot be switched: {observed}',
    observed: 'Readers see a half-loaded index, or two at once; invalid_alias_name_exception.',
    causes: [
      'Another load, a rollback or a person switched it in the meantime.',
      'The name belongs to an index or a data stream, or the alias is on several indices.',
      'An index template puts the alias on every new index.',
    ],
    fixes: [
      'Two loads at once: keep the one that was switched; give the other one up with `sluice runs rm RUN`, or switch to its index with `sluice rollback ALIAS --to INDEX`.',
      'An index of this name: copy it to another one (POST _reindex), then replace it by an alias in one step: POST _aliases {"actions":[{"remove_index":{"index":"NAME"}},{"add":{"index":"COPY","alias":"NAME"}}]}.',
      'Take the alias out of the template, or off all indices but one.',
    ],
    example: { alias: 'products', observed: 'an index has this name' },
  },
  LOAD_CHECK_FAILED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The loaded index did not pass its checks',
    message: 'the index {index} was loaded, and {alias} was not switched to it: {observed}',
    observed: 'Tools that switch without a check put a half-empty index before the readers.',
    causes: [
      'Documents were rejected, and --max-rejected does not say how many may be.',
      'The index holds more or fewer documents than the run stored: something else writes to it.',
      '--check-query found too little.',
    ],
    fixes: [
      'Rejected documents: repair them in the dead letters, or the mapping of the new index; send them there with `sluice replay FILE`, and run the same command again, without --max-rejected. It finds them by their ids in the dead letters, which have to be there still. With --ids cluster it cannot.',
      'The alias is where it was, and the new index is kept. Correct the limit, the query or the index and run the same command again: it loads nothing twice, and makes the checks anew.',
      'To take the index as it is: `sluice rollback ALIAS --to INDEX`. To give it up: `sluice runs rm RUN`, and delete the index.',
    ],
    example: {
      index: 'products-20261121t093000z-4f1c2a',
      alias: 'products',
      observed: 'the run stored 48210 documents, and it holds 48190',
    },
  },
  ROLLBACK_IMPOSSIBLE: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'There is nothing to roll back to',
    message: 'the alias {alias} cannot be rolled back: {observed}',
    observed: 'aliases_not_found_exception or index_not_found_exception, or an alias that is nowhere afterwards.',
    causes: [
      'No load with --swap-alias has switched the alias yet, or the first one made it.',
      'The index before was deleted.',
      'The load into the index that was named has not finished.',
    ],
    fixes: ['Name the index that the alias is to be on: `sluice rollback ALIAS --to INDEX`.'],
    example: { alias: 'products', observed: 'products-20261121t093000z-4f1c2a does not say which index was before it' },
  },
  UNDO_BEHIND_ALIAS: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'Searches go to the index that undo would empty',
    message: 'undoing run {run} would empty {index}, which the alias {alias} leads to: nothing was deleted',
    observed: 'Somebody deletes what a load brought, and searches find nothing from then on.',
    causes: ['It was a load with --swap-alias, and the alias was switched to its index.'],
    fixes: [
      'Switch the alias to the index before first: `sluice rollback ALIAS`, or `sluice rollback ALIAS --to INDEX`. That alone takes the load back; then the run can be undone, or its index deleted.',
      'If there is no index before: load what is right with --swap-alias first, or take the alias off.',
    ],
    example: { run: '20261121T093000Z-4f1c2a', index: 'products-20261121t093000z-4f1c2a', alias: 'products' },
  },
} as const satisfies Entries<'index'>
