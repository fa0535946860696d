import type { Entries } from '../entry.js'

/** Refused by an index, its mapping or its alias. */
export const indexEntries = {
  INDEX_BLOCKED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index takes no writes',
    message: 'the index {index} is blocked: {reason}',
    causes: ['The disk passed the flood-stage watermark.', 'index.blocks.write or read_only is set.'],
    fixes: [
      'Free disk space or remove the block: PUT /<index>/_settings {"index.blocks.write": null}. Then run the same command again: it goes on where it stopped.',
    ],
  },
  IDS_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The index makes its ids itself',
    message: '{index} takes no ids: {reason}',
    causes: ['It is a time-series data stream, which makes the id of a document from its dimensions and its time.'],
    fixes: [
      'Load with --ids cluster. The same measurement is then never stored twice; but a document whose answer was lost counts as unknown, and the run can be neither verified nor undone.',
    ],
  },
  TOO_MANY_REJECTED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'More documents were rejected than allowed',
    message: '{rejected} documents rejected, {limit} allowed (--max-rejected)',
    causes: ['The mapping does not fit the documents.', 'The input is not what the index expects.'],
    fixes: [
      'The dead letters hold each document with its reason. Correct the mapping, or the documents in them, and send them again: sluice replay FILE.',
      'Or raise --max-rejected. An input that was corrected is another input: before it is loaded, sluice undo RUN takes away what is stored of this one.',
    ],
  },
  INDEX_REQUEST_REFUSED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The cluster refuses a request about an index',
    message: '{cluster} refused {request} with status {status}: {reason}',
    causes: [
      '--index-body holds a setting or mapping that this cluster does not take.',
      'A setting of the index before cannot be taken over.',
      '--check-query is no query that this cluster knows.',
    ],
    fixes: [
      'Read the reason; correct --check-query, or say with --index-body how the index is to be made. The alias is where it was.',
    ],
  },
  ALIAS_CONFLICT: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The alias cannot be switched',
    message: 'the alias {alias} cannot be switched: {observed}',
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
  },
  LOAD_CHECK_FAILED: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'The loaded index did not pass its checks',
    message: 'the index {index} was loaded, and {alias} was not switched to it: {observed}',
    causes: [
      'Documents were rejected, and --max-rejected does not say how many may be.',
      'The index holds more or fewer documents than the run stored: something else writes to it.',
      '--check-query found too little.',
    ],
    fixes: [
      'The alias is where it was, and the new index is kept. Correct the limit, the query or the index and run the same command again: it loads nothing twice, and makes the checks anew.',
      'To take the index as it is: `sluice rollback ALIAS --to INDEX`. To give it up: `sluice runs rm RUN`, and delete the index.',
    ],
  },
  ROLLBACK_IMPOSSIBLE: {
    stage: 'index',
    exit: 3,
    retry: 'no',
    title: 'There is nothing to roll back to',
    message: 'the alias {alias} cannot be rolled back: {observed}',
    causes: [
      'The alias was never switched by a guarded load, or its first one made it.',
      'The index before was deleted.',
      'The load into the index that was named has not finished.',
    ],
    fixes: ['Name the index that the alias is to be on: `sluice rollback ALIAS --to INDEX`.'],
  },
} as const satisfies Entries<'index'>
