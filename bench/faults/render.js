/** The page, from the results. */
import { faults } from './faults.js'
import { DOCUMENTS } from './inputs.js'
import { tools } from './tools.js'

const names = Object.keys(tools)
const number = value => value.toLocaleString('en')
const row = cells => `| ${cells.join(' | ')} |`
const tableOf = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

/** `results`: { date, machine, cells: { fault: { own: { tool: cell }, field?: { tool: cell } } } }, `machine` of machine.js. */
export function render({ date, machine, cells }) {
  const played = Object.keys(faults).filter(name => cells[name] !== undefined)
  return `# Faults, one at a time

Four loaders bring the same ${number(DOCUMENTS)} documents to the same cluster while one thing goes wrong, and the cluster is compared
with the input afterwards, document by document and byte by byte. Written by \`npm run faults\` on ${date}, on ${machine.cores} × ${machine.cpu}
under Linux ${machine.kernel} with Node ${machine.versions['Node.js']}.

${tableOf(
  ['', 'version', 'how it is run'],
  names.map(name => [tools[name].title, machine.versions[tools[name].version] ?? '', tools[name].about]),
)}

- **The world** is Sluice's lab: a CONNECT proxy with a password and two static addresses, an IP filter, a cluster. Every loader reaches it
  through the proxy over TLS, in requests of 200 documents unless it says otherwise, without ids in the data: the cluster makes the ids
  for the others, Sluice its own.
- **When a loader ends with another exit code than 0**, the fault is over and the command is run once more, as a scheduler would; not
  where the input is at fault. elasticdump is told to go on behind the last line that it had sent (\`--offset\`); the others have the
  same command again. Exit codes show both runs.
- **set aside**: not in the cluster, and in the loader's file for refused documents. **missing**: in neither. **doubled**: copies too
  many. **altered**: other bytes. **cause named**: seconds from the start until the output says what is in the way; – where all went well
  in the end and nobody has to know. **outside**: connections to the cluster that did not come through the proxy. **printed**: secrets,
  and documents of which something stands in the output.
- The programs for \`helpers.bulk\` and \`streaming_bulk\` are in \`bench/faults/peers\`. They do what the documentation shows, and leave
  exceptions to the runtime. Another program around the same helper may do better, or worse.
- Each cell is one run, with 10 ms added on the way, on a machine that did other work beside it: seconds are no benchmark, and what depends
  on the moment, as the documents that were under way, is another number the next time.
- The lab is ours. That real servers do the same is tested apart ([testing on real servers](testing-on-real-servers.md)).
- Sluice's own ways in are also played together, at random, against a model: \`npm run search:world\`. What that model does not play, and why, is
  listed at the end of this page.

## At a glance

What is wrong in the end, after the second run where there was one. ✓: every document once, unaltered, or set aside where it is the
document that is at fault.

${tableOf(
  ['', ...names.map(name => tools[name].title)],
  played.map(name => [faults[name].title, ...names.map(tool => verdict(cells[name].own[tool], faults[name]))]),
)}

With ids taken from a field of the documents, which not all data have (Sluice with \`--ids field --op index\`):

${tableOf(
  ['', ...names.map(name => tools[name].title)],
  played
    .filter(name => cells[name].field !== undefined)
    .map(name => [faults[name].title, ...names.map(tool => verdict(cells[name].field[tool], faults[name]))]),
)}

## Each fault

${played.map(name => section(faults[name], cells[name].own)).join('\n\n')}
${notPlayed}`
}

const notPlayed = `
## What the model of the world does not play

\`npm run search:world\` draws stories of all ways in, and an oracle that shares no code with Sluice judges each command. Options and parts of
Sluice that no story has are listed in \`test/world/not-in-model.ts\`, each with a reason. These events are not played either:

| What | Why |
| --- | --- |
| a process that is frozen, several workers of a queue, a queue that is lost | all commands of a story run in one process. \`npm run proof:jobs\` freezes and kills workers and the queue |
| mappings that change, of CSV, TSV, tables, aliases and data streams, of receivers, or with a function | the oracle knows one field that only some documents have, in one index |
| an alias or a data stream with ids of the user, or whose indices are deleted | the oracle holds all documents of all indices behind the name, and a document has one id in each |
| a time budget, a month that ends | the clock jumps only between commands |
| a full disk, if the search does not run as root | only root may mount a small disk |
| on real servers: data streams, tables, servers of files that fail, a node of the proxy that is down | the servers of the tests have none of these, or do not fail on command |
`

function verdict(cell, { without }) {
  if (cell === undefined) return '–'
  const { missing, doubled, altered, strange, setAside } = cell
  const counts = { missing, doubled, altered, 'not of the input': strange, 'set aside': setAside - (without ?? 0) }
  const wrong = Object.entries(counts).filter(([, count]) => count > 0)
  if (wrong.length === 0) return '✓'
  return wrong.map(([what, count]) => `${number(count)} ${what}`).join(', ') + (lastExit(cell) === 0 ? ', exit 0' : '')
}

/** Nothing is wrong, and it took one run. */
const isWell = ({ missing, setAside, doubled, altered, strange, runs }) =>
  missing + setAside + doubled + altered + strange === 0 && runs.length === 1 && runs[0].exit === 0

const lastExit = ({ runs }) => runs.at(-1).exit

function section(fault, cells) {
  const rows = names.flatMap(name => {
    const cell = cells[name]
    if (cell === undefined) return []
    const { missing, doubled, altered, strange, setAside, runs, outside, secrets, documentsPrinted } = cell
    const named = runs.find(run => run.namedAfter !== undefined)?.namedAfter
    const prints = [
      ...secrets,
      ...(documentsPrinted > 0
        ? [`${number(documentsPrinted)} ${documentsPrinted === 1 ? 'document' : 'documents'}`]
        : []),
    ]
    return [
      [
        tools[name].title,
        ...[missing, setAside, doubled, altered + strange].map(number),
        runs.map(({ exit }) => exit).join(fault.twice ? ' and ' : ', then '),
        runs.map(({ seconds }) => seconds.toFixed(1)).join(' + '),
        fault.named === undefined || (named === undefined && isWell(cell))
          ? '–'
          : named === undefined
            ? 'no'
            : `${named.toFixed(1)} s`,
        number(outside),
        prints.join(', ') || 'no',
      ],
    ]
  })
  const head = [
    '',
    'missing',
    'set aside',
    'doubled',
    'altered',
    'exit code',
    'seconds',
    'cause named',
    'outside',
    'printed',
  ]
  return [`### ${fault.title}`, ...(fault.note === undefined ? [] : [fault.note]), tableOf(head, rows)].join('\n\n')
}
