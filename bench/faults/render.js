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

Four loaders load the same ${number(DOCUMENTS)} documents into the same cluster while one thing goes wrong. Afterwards, each document in the cluster is compared with the input, byte by byte.
\`npm run faults\` wrote this page on ${date}, on ${machine.cores} × ${machine.cpu} under Linux ${machine.kernel} with Node ${machine.versions['Node.js']}.

${tableOf(
  ['', 'version', 'how it is run'],
  names.map(name => [tools[name].title, machine.versions[tools[name].version] ?? '', tools[name].about]),
)}

- **The world** is Sluice's lab: a CONNECT proxy with a password and two static addresses, an IP filter and a cluster. Every loader reaches the cluster
  through the proxy, over TLS. Requests hold 200 documents if the row says nothing else. The documents have no ids: Sluice makes its own ids, and the cluster makes those of the others.
- **If a loader ends with another exit code than 0**, the fault ends and the command runs once more, as a scheduler would do. If the input is at fault, there is no second run.
  elasticdump continues after the last line that it had sent (\`--offset\`). The others get the same command again. The exit codes show both runs.
- **missing**: in the cluster and in the loader's file of rejected documents there is no such document. **set aside**: only in that file. **doubled**: copies too
  many. **altered**: other bytes. **cause named**: seconds from the start until the output names the cause. – means that all went well, so nobody has to know.
  **outside**: connections to the cluster that did not use the proxy. **printed**: secrets and documents that stand in the output.
- The programs for \`helpers.bulk\` and \`streaming_bulk\` are in \`bench/faults/peers\`. They do what the documentation shows, and leave
  exceptions to the runtime. Another program around the same helper may do better, or worse.
- Each cell is one run. The route adds 10 ms, and the machine did other work at the same time. So the seconds are no benchmark. Numbers that depend on the moment, such as documents
  in open requests, differ in each run.
- The lab is ours. [Other tests](testing-on-real-servers.md) play the same faults on real servers.
- \`npm run search:world\` plays all ways into Sluice together, at random, against a model. The end of this page lists what that model does not play, and why.

## At a glance

The table shows what is wrong in the end, after the second run if there was one. ✓ means: every document is stored once and unaltered. If a document itself is at fault, it is set aside.

${tableOf(
  ['', ...names.map(name => tools[name].title)],
  played.map(name => [faults[name].title, ...names.map(tool => verdict(cells[name].own[tool], faults[name]))]),
)}

The same with ids from a field of the documents, which not all data have (Sluice with \`--ids field --op index\`):

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
