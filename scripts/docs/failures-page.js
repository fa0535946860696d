/** docs/failures.md: what `sluice explain` tells, of every failure. */

const stages = {
  options: 'Options',
  input: 'Inputs and documents',
  proxy: 'The proxy',
  egress: 'Addresses and the IP filter',
  cluster: 'The cluster',
  index: 'The index',
  run: 'The run',
}

const exits = {
  1: 'some documents rejected, or of unknown outcome',
  2: 'wrong usage or options',
  3: 'a person must change something: access, configuration or input',
  4: 'not reachable or overloaded for longer than allowed: run again later',
  5: 'interrupted',
  6: 'another run is loading the same input into the same index',
  70: 'a bug in Sluice',
}

export function failuresPage(catalogue) {
  const entries = Object.entries(catalogue)
  const sections = Object.entries(byStage(entries))
  return [
    '<!-- Made by `npm run docs` from src/failure/catalogue.ts. Edit that. -->',
    '# Failures',
    '',
    'Every failure that Sluice can name, in the order of the path from options to index. `sluice explain CODE` shows the same.',
    'In a message, `{names}` stand for what was seen. Causes stand in order of likelihood.',
    '',
    '| Code | Exit | Again? | What it is |',
    '| --- | --- | --- | --- |',
    ...entries.map(([code, { exit, retry, title }]) => `| [${code}](#${code.toLowerCase()}) | ${exit} | ${retry} | ${title} |`),
    '',
    'Again: whether the same command may succeed later with nothing changed.',
    '',
    '| Exit code | Meaning |',
    '| --- | --- |',
    '| 0 | every document stored |',
    ...Object.entries(exits).map(([exit, meaning]) => `| ${exit} | ${meaning} |`),
    ...sections.flatMap(([stage, members]) => ['', `## ${heading(stage)}`, ...members.flatMap(section)]),
    '',
  ].join('\n')
}

function byStage(entries) {
  const found = {}
  for (const entry of entries) (found[entry[1].stage] ??= []).push(entry)
  return found
}

function heading(stage) {
  const title = stages[stage]
  if (title === undefined) throw new Error(`the stage ${stage} has no heading`)
  return title
}

function section([code, { title, message, exit, causes, fixes }]) {
  if (exits[exit] === undefined) throw new Error(`the exit code ${exit} of ${code} has no meaning`)
  return [
    '',
    `### ${code}`,
    '',
    `${title}. Exit code ${exit}.`,
    '',
    `    ${message}`,
    '',
    ...causes.map(cause => `- Cause: ${plain(cause)}`),
    ...fixes.map(fix => `- Fix: ${plain(fix)}`),
  ]
}

/** Text of a terminal, which may hold what Markdown takes for markup. */
function plain(text) {
  return text.replaceAll(/`[^`]*`|[\\*<]/g, part => (part.startsWith('`') ? part : `\\${part}`))
}
