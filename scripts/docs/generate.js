/**
 * Writes docs/failures.md, docs/messages.md, docs/options.md, the man page and the JSON Schema of the configuration file from the
 * catalogue of failures, the code and the table of options. Writes docs/licences.md from the lockfile.
 *
 *   node scripts/docs/generate.js [--check] [DIST]
 *
 * DIST is the code of the built package (default: dist). With --check it writes nothing, names stale pages and exits with 1.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { withPicture } from './architecture-picture.js'
import { configSchema } from './config-schema.js'
import { failuresPage } from './failures-page.js'
import { licencesPage } from './licences-page.js'
import { messagesPage } from './messages-page.js'
import { optionsPage } from './options-page.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values, positionals } = parseArgs({ options: { check: { type: 'boolean', default: false } }, allowPositionals: true })
const dist = resolve(positionals[0] ?? join(root, 'dist'))
const built = async path => await import(pathToFileURL(join(dist, path)).href)

const { explain, failureCodes } = await built('base/failure/failure.js')
const { exampleOf } = await built('base/failure/failure.js')
const { stages } = await built('base/failure/failure.js')
const { symptoms } = await built('base/failure/symptoms.js')
const { indexErrors } = await built('base/failure/index-errors.js')
const { describeOption, optionNames } = await built('options/describe-option.js')

const entries = failureCodes.map(code => [code, explain(code)])
const pages = {
  'docs/architecture.md': withPicture(read(join(root, 'docs/architecture.md')) ?? '', root),
  'docs/failures.md': failuresPage({ entries, stages, symptoms, indexErrors, exampleOf }),
  'docs/licences.md': licencesPage(root, dist),
  'docs/messages.md': messagesPage({ entries, exampleOf, root }),
  'docs/options.md': optionsPage(optionNames.map(describeOption)),
  'schema/sluice.config.schema.json': configSchema(optionNames.map(describeOption)),
  // The command knows its own tree of commands.
  'docs/sluice.1': execFileSync(process.execPath, [join(dist, '../bin/sluice.js'), 'completion', 'man'], {
    encoding: 'utf8',
  }),
}

for (const [path, text] of Object.entries(pages)) {
  const file = join(root, path)
  if (!values.check) writeFileSync(file, text)
  else if (text !== read(file)) {
    console.log(`${path} is stale: npm run docs`)
    process.exitCode = 1
  }
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
