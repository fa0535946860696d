/** Makes docs/messages.md: every message that a user can meet, on one page, so that it can be read in one go. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { literalsIn } from './literals.js'
import { inCell, plain } from './text.js'

/** The headings, in the order of a reader, and the folders of src below each. Options and help have pages of their own. */
const folders = {
  'What the doctor reports': ['programs/doctor'],
  'What the IP filter commands report': ['programs/filter'],
  'What runs report': [
    'run',
    'features',
    'pipeline/ledger',
    ...['alarm', 'jobs', 'serve', 'tunnel', 'verify'].map(name => `programs/${name}`),
  ],
  'Problems with inputs and documents': [
    ...['source', 'format', 'bulk'].map(name => `pipeline/${name}`),
    ...['compression', 'disk', 'json', 'lock', 'text'].map(name => `base/${name}`),
  ],
  'What the proxy, the cluster and ServiceNow answer': ['route'],
  'Problems with options': ['options'],
  'What commands print': ['cli'],
}

export function messagesPage({ entries, exampleOf, root }) {
  return [
    '<!-- Made by `npm run docs` from src. Edit the messages there. -->',
    '# Messages',
    '',
    'This page lists every message of Sluice. The failures come first, with causes and fixes. The other messages follow.',
    'Some entries are only parts of a sentence: they complete a message, or are in a table. `…` stands for a value.',
    '',
    '## Failures',
    '',
    ...entries.flatMap(failure),
    ...Object.entries(folders).flatMap(([title, names]) => sentences(title, names, root)),
  ].join('\n')

  function failure([code, { title, isNotice, causes, fixes }]) {
    return [
      `### ${code}`,
      '',
      `${title}.`,
      '',
      `    ${isNotice ? '' : 'error: '}${exampleOf(code)}`,
      '',
      ...causes.map(cause => `- Cause: ${plain(cause)}`),
      ...fixes.map(fix => `- Fix: ${plain(fix)}`),
      '',
    ]
  }
}

function sentences(title, names, root) {
  // What options do stands in docs/options.md.
  const table = join(root, 'src/options/table.ts')
  const files = names.flatMap(name => filesIn(join(root, 'src', name))).filter(file => file !== table)
  const texts = files.flatMap(messagesIn)
  return [`## ${title}`, '', ...[...new Set(texts)].map(text => `- ${plain(inCell(text))}`), '']
}

function filesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .toSorted((a, b) => a.localeCompare(b, 'en'))
    .map(name => join(folder, name))
}

/** Returns the literals of a file that are made of words, and are not help, paths, requests or bugs. */
function messagesIn(file) {
  return literalsIn(readFileSync(file, 'utf8'))
    .filter(({ before }) => !/new (Type)?Error\($|describe: $|\bexample: $|sentence: $|help: $|addHelpText\($/.test(before))
    .map(({ text }) => text.replaceAll(/\\n/g, ' ').trim())
    .filter(text => /\p{L}{2,}[,:.]? \p{L}+[,:.]? \p{L}+/u.test(text) && !/^(GET|PUT|POST|DELETE|HEAD) |<\w+|=>/.test(text))
}
