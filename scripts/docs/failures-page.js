/** Writes docs/failures.md: the text of `sluice explain` for every failure, and an index from symptom to code. */
import { inCell, plain } from './text.js'

const exits = {
  1: 'documents were rejected, or their outcome is unknown',
  2: 'an option or an input is wrong',
  3: 'access, configuration or input must be changed',
  4: 'the cluster or proxy was unreachable or overloaded for too long: run again later',
  5: 'interrupted, or a time or byte budget is spent: run the same command again to continue',
  6: 'another run is loading the same input into the same index',
  70: 'a bug, or a good result could not be written to stdout',
}

export function failuresPage({ entries, stages, symptoms, indexErrors, exampleOf }) {
  const sections = Object.entries(stages).map(([stage, title]) => ({
    title,
    members: entries.filter(([, entry]) => entry.stage === stage),
  }))
  return [
    '<!-- Made by `npm run docs` from src/base/failure. Edit the entries and symptoms there. -->',
    '# Failures',
    '',
    'This page lists every failure that Sluice can name, in the order of the route from options to index. `sluice explain CODE`',
    'shows the same text. `sluice explain WORDS` finds codes by a symptom, for example `sluice explain 407`.',
    '',
    '- [From symptom to code](#from-symptom-to-code)',
    '- [Error types of Elasticsearch](#error-types-of-elasticsearch)',
    ...sections.map(({ title }) => `- [${title}](#${anchor(title)})`),
    '',
    '| Exit code | Meaning |',
    '| --- | --- |',
    '| 0 | every document is stored |',
    ...Object.entries(exits).map(([exit, meaning]) => `| ${exit} | ${meaning} |`),
    '',
    '## From symptom to code',
    '',
    'This table lists symptoms that any tool may show, with the failures behind them. The most likely failure comes first. `sluice doctor` finds the cause.',
    '',
    '| Where | Symptom | Cause | Codes | How to find the cause |',
    '| --- | --- | --- | --- | --- |',
    ...symptoms.map(symptomRow),
    '',
    '## Error types of Elasticsearch',
    '',
    'The receipt and the dead letters show these types if Elasticsearch rejects single documents. `sluice explain TYPE` shows the same text.',
    '',
    '| Type | Meaning | What to do |',
    '| --- | --- | --- |',
    ...indexErrors.map(({ type, meaning, fix }) => `| \`${type}\` | ${inCell(plain(meaning))} | ${inCell(plain(fix))} |`),
    ...sections.flatMap(section),
    '',
  ].join('\n')

  function section({ title, members }) {
    return [
      '',
      `## ${title}`,
      '',
      '| Code | Exit | Retry? | Meaning |',
      '| --- | --- | --- | --- |',
      ...members.map(([code, { exit, retry, isNotice, title: what }]) => `| ${link(code)} | ${isNotice ? '– | –' : `${exit} | ${retry}`} | ${what} |`),
      '',
      '*Retry* shows whether the same command may succeed later without a change. A notice (–) does not end a run.',
      ...members.flatMap(chapter),
    ]
  }

  function chapter([code, { title, observed, exit, isNotice, causes, fixes }]) {
    if (exits[exit] === undefined) throw new Error(`the exit code ${exit} of ${code} has no meaning`)
    return [
      '',
      `### ${code}`,
      '',
      `${title}. ${isNotice ? 'This notice does not end a run.' : `Exit code ${exit}.`}`,
      '',
      `    ${isNotice ? '' : 'error: '}${exampleOf(code)}`,
      '',
      `In other tools: ${plain(observed)}`,
      '',
      ...causes.map(cause => `- Cause: ${plain(cause)}`),
      ...fixes.map(fix => `- Fix: ${plain(fix)}`),
    ]
  }
}

function symptomRow({ where, symptom, when, codes, note }) {
  const named = codes.length === 0 ? 'none' : codes.map(link).join(', ')
  return `| ${[where === 'instance' ? 'ServiceNow' : where, plain(symptom), plain(when), named, plain(note)].map(inCell).join(' | ')} |`
}

function link(code) {
  return `[${code}](#${code.toLowerCase()})`
}

function anchor(title) {
  return title.toLowerCase().replaceAll(' ', '-')
}
