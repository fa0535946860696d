/** What the model does not draw yet, by its name in Sluice's own lists, and why. A new name belongs here or in a row of `ways.ts`. */
export const notInModel: Readonly<Record<string, string>> = {
  'ids cluster': 'nothing prevents a second copy, so the oracle could say nothing',
  'swap-alias': 'a guarded load has a search of its own: test/lab/guarded',
  'another-cluster':
    'the world has one cluster: test/contracts/another-cluster.suite.ts continues such loads, and shared-indices.suite.ts shares them',
  alarm: 'it brings no documents in',
  doctor: 'it brings no documents in',
  filter: 'it brings no documents in',
  tunnel: 'it brings no documents in',
  guarded: 'a guarded load has a search of its own: test/lab/guarded',
  mapping: 'it changes the index before a load, not the documents',
  metrics: 'it brings no documents in',
  report: 'it brings no documents in',
  tuned: 'it changes the settings of the index',
  'option --id-separator': 'one field makes the ids',
  'option --routing-field': 'the lab has one shard',
  'option --version-field': 'the oracle has no versions',
  'option --if-seq-no-field': 'the oracle has no sequence numbers',
  'option --if-primary-term-field': 'the oracle has no sequence numbers',
  'option --script': 'the oracle runs no scripts',
  'option --script-id': 'the oracle runs no scripts',
  'option --retry-on-conflict': 'nobody else writes into the index meanwhile',
  'option --pipeline': 'the oracle runs no pipelines',
  'option --files-from': 'it names files, as the command does',
  'option --null': 'a part of --files-from',
  'option --poll': 'it changes when files are looked at',
  'option --pick': 'it selects a part of a JSON document',
  'option --columns':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --skip-header':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --delimiter':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --quote':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --encoding':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --infer-types':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --types':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --nan': 'the model draws whole numbers only: test/unit/pipeline/format/parquet.test.ts plays the others',
  'option --empty':
    'one spelling of CSV is drawn: test/unit/pipeline/format and the corpus of csv-spectrum play the others',
  'option --transform-timeout': 'a part of --transform',
  'option --resend-unknown': 'the oracle calls them unknown',
  'option --dry-run': 'it sends nothing',
}
