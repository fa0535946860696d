/** docs/failures.md: what `sluice explain` tells, of every failure, and the way from what is seen to its code. */

const exits = {
  1: 'some documents rejected, or of unknown outcome',
  2: 'wrong usage or options',
  3: 'a person must change something: access, configuration or input',
  4: 'not reachable or overloaded for longer than allowed: run again later',
  5: 'interrupted, or a budget is spent: the same command goes on',
  6: 'another run is loading the same input into the same index',
  70: 'a bug in Sluice',
}

export function failuresPage({ catalogue, stages, symptoms, exampleOf }) {
  const entries = Object.entries(catalogue)
  const sections = Object.entries(stages).map(([stage, title]) => ({
    title,
    members: entries.filter(([, entry]) => entry.stage === stage),
  }))
  return [
    '<!-- Made by `npm run docs` from src/failure. Edit the entries and symptoms there. -->',
    '# Failures',
    '',
    'Every failure that Sluice can name, in the order of the path from options to index. `sluice explain CODE` shows the same;',
    '`sluice explain WORDS` finds codes by what is seen, as in `sluice explain 407`.',
    '',
    '- [From symptom to code](#from-symptom-to-code)',
    ...sections.map(({ title }) => `- [${title}](#${anchor(title)})`),
    '',
    '| Exit code | Meaning |',
    '| --- | --- |',
    '| 0 | every document stored |',
    ...Object.entries(exits).map(([exit, meaning]) => `| ${exit} | ${meaning} |`),
    '',
    '## From symptom to code',
    '',
    'What is seen, in whatever tool, and the failures that it may be, most likely first. `sluice doctor` tells them apart.',
    '',
    '| Where | What is seen | What is behind it | Codes | What tells them apart |',
    '| --- | --- | --- | --- | --- |',
    ...symptoms.map(symptomRow),
    ...sections.flatMap(section),
    '',
  ].join('\n')

  function section({ title, members }) {
    return [
      '',
      `## ${title}`,
      '',
      '| Code | Exit | Again? | What it is |',
      '| --- | --- | --- | --- |',
      ...members.map(([code, { exit, retry, isNotice, title: what }]) => `| ${link(code)} | ${isNotice ? '– | –' : `${exit} | ${retry}`} | ${what} |`),
      '',
      'Again: whether the same command may succeed later with nothing changed. –: a notice, which ends no run.',
      ...members.flatMap(chapter),
    ]
  }

  function chapter([code, { title, observed, exit, isNotice, causes, fixes }]) {
    if (exits[exit] === undefined) throw new Error(`the exit code ${exit} of ${code} has no meaning`)
    return [
      '',
      `### ${code}`,
      '',
      `${title}. ${isNotice ? 'A notice: it ends no run.' : `Exit code ${exit}.`}`,
      '',
      `    ${isNotice ? '' : 'error: '}${exampleOf(code)}`,
      '',
      `Elsewhere: ${plain(observed)}`,
      '',
      ...causes.map(cause => `- Cause: ${plain(cause)}`),
      ...fixes.map(fix => `- Fix: ${plain(fix)}`),
    ]
  }
}

function symptomRow({ where, symptom, when, codes, note }) {
  const named = codes.length === 0 ? 'none' : codes.map(link).join(', ')
  return `| ${[where, plain(symptom), plain(when), named, plain(note)].map(cell).join(' | ')} |`
}

function link(code) {
  return `[${code}](#${code.toLowerCase()})`
}

function anchor(title) {
  return title.toLowerCase().replaceAll(' ', '-')
}

/** Text of a terminal, which may hold what Markdown takes for markup. */
function plain(text) {
  return text.replaceAll(/`[^`]*`|[\\*<]/g, part => (part.startsWith('`') ? part : `\\${part}`))
}

function cell(text) {
  return text.replaceAll('|', '\\|')
}
