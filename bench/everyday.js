/**
 * What users have besides plain files on a plain way: compressed files, JSON arrays, CSV, very many files, small loads, fields to change,
 * documents to update, TLS with a CA of their own, one core. Each is a scenario like those of plan.js, on one size of input, and is nothing but configuration:
 *
 * form     what the input is made into: see corpus/forms.js
 * words    options of Sluice. The programs of its clients do the same
 * tls      the sink stands behind TLS, with a certificate of the bench's own CA
 * size     `whole` if the row is a goal. Default: `part`, in which start-up weighs more
 * core     the client, but not the sink, has to do with this core
 * clients  who takes part, besides Sluice
 */
const go = ['esutil', 'docappender', 'docappender-default']

const rows = [
  { name: 'ndjson.gz', kind: 'log', form: 'gz', clients: ['gunzip', 'esbulk-gz'] },
  { name: 'JSON array', kind: 'log', form: 'array', clients: ['python-array'] },
  { name: 'JSON array, pretty-printed', kind: 'log', form: 'pretty', clients: ['python-array'] },
  {
    name: 'CSV',
    kind: 'small',
    form: 'csv',
    clients: ['mlr-csv', 'qsv-csv', 'duckdb-csv', 'python-csv', 'elasticdump-csv'],
  },
  { name: 'CSV, types found', kind: 'small', form: 'csv', words: ['--infer-types'], clients: [] },
  {
    name: 'CSV, types given',
    kind: 'small',
    form: 'csv',
    words: ['--types', 'time:date,id:long,host:keyword,method:keyword,status:short,ms:double,text:text'],
    clients: [],
  },
  {
    name: 'fields dropped and set',
    kind: 'small',
    words: ['--drop', 'host,text', '--set', 'from=bench'],
    clients: ['helpers-edit', 'python-edit', 'elasticdump-edit'],
  },
  {
    name: 'updates',
    kind: 'small',
    words: ['--op', 'update', '--ids', 'field', '--id-field', 'id'],
    clients: ['esutil-update', 'helpers-update', 'python-update', 'elasticdump-update'],
  },
  { name: 'https', kind: 'log', size: 'whole', tls: true, clients: go },
  { name: 'https through the proxy', kind: 'log', size: 'whole', tls: true, route: 'proxy', clients: go },
  {
    name: 'https through the proxy, gzip',
    kind: 'log',
    size: 'whole',
    tls: true,
    route: 'proxy',
    words: ['--compress', 'gzip'],
    clients: ['docappender-gzip'],
  },
  { name: 'one core', kind: 'log', core: 0, clients: ['bare', ...go] },
  { name: 'many small files', kind: 'small', form: 'files', clients: [] },
  {
    name: '100 documents',
    kind: 'log',
    form: 'few',
    clients: [...go, 'helpers-strings', 'python-streaming-raw'],
  },
]

/** The scenarios of these rows, among clients that can run here. `programs` may lack what TLS takes. */
export function everyday(options, names, programs) {
  return rows
    .filter(row => options.corpora.includes(row.kind) && (row.tls !== true || programs.tlsFront !== undefined))
    .map(({ size = 'part', ...row }) => ({
      route: 'direct',
      latency: 0,
      ...row,
      runs: ['sluice', ...row.clients.filter(name => names.includes(name))].map(client => ({
        client,
        size,
        rounds: options.rounds.slow,
      })),
    }))
}
