/**
 * Installs the package in empty projects, and uses it there as others do: with old and new compilers, and in the test runners that people have.
 * Takes the build as it is: `npm run build` first. It needs what `npm install` needs. `--only TEXT`: only rows with this text. `--folder PATH`: keeps the
 * projects there, and installs nothing twice.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compilers, consumer } from './consumer.js'
import { bothSystems, testFor, typeFiles, wrongFiles, wrongLines, wrongPrograms } from './face-files.js'
import { check, install, pack, root, run } from './steps.js'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, folder: { type: 'string' } } })
const folder = values.folder === undefined ? mkdtempSync(join(tmpdir(), 'sluice-face-')) : resolve(values.folder)
const { exports, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const typescripts = ['5.4', '5.9', '7']
const libraries = ['es2022', 'es2022,dom']
const jests = ['28', '29', '30']
const doors = Object.entries(exports).flatMap(([door, to]) =>
  typeof to === 'string' ? [] : [door.replace('.', 'sluice')],
)
/** An argument, an option that does not exist, a value, and no overload. An import that is not found has another number. */
const ofTypes = ['TS2345', 'TS2353', 'TS2561', 'TS2322', 'TS2769']
const rows = []
const failed = []

try {
  prepare()
  for (const version of typescripts)
    for (const settings of compilers)
      for (const library of libraries)
        row(`TypeScript ${version} ${settings.join(' ')} --lib ${library}`, () => compile(version, settings, library))
  row('each door has a wrong program', () => assert.deepEqual(Object.keys(wrongPrograms).toSorted(), doors.toSorted()))
  for (const version of typescripts)
    for (const settings of compilers)
      row(`TypeScript ${version} ${settings.join(' ')} refuses wrong types`, () => refuse(version, settings))
  for (const version of jests) row(`Jest ${version}, CommonJS`, () => runJest(version))
  row('vitest', () => runVitest())
  row('node:test, import', () => runNodeTest('esm.test.mjs', false))
  row('node:test, require', () => runNodeTest('cjs.test.cjs', true))
  row('require and import in one process', () => runBothSystems())
  console.log(`${rows.length - failed.length} of ${rows.length} hold`)
} finally {
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true })
}

/** Installs the package where every project of the folder finds it. */
function prepare() {
  const files = Object.entries(consumer(doors)).filter(([name]) => /^(package\.json$|types\/)/.test(name))
  for (const [name, text] of [...files, ...Object.entries(typeFiles), ...Object.entries(wrongFiles)]) write(name, text)
  const { filename } = pack(folder)
  install(folder, '--omit=dev', `./${filename}`, `@types/node@${devDependencies['@types/node']}`)
}

function row(what, does) {
  if (!what.includes(values.only)) return
  rows.push(what)
  if (!check(what, does)) failed.push(what)
}

function compile(version, settings, library) {
  compiled(version, [...settings, '--lib', library], filesIn('types'))
}

/** Fails unless the compiler finds every planted error, each in its line, and no other. */
function refuse(version, settings) {
  let printed = ''
  try {
    compiled(version, settings, Object.keys(wrongFiles))
  } catch (error) {
    printed = error.stdout
  }
  const errors = [...printed.matchAll(/^(wrong\S+)\((\d+),\d+\): error (TS\d+)/gm)]
  const wrongKinds = errors.filter(([, , , code]) => !ofTypes.includes(code))
  assert.deepEqual(
    wrongKinds.map(([text]) => text),
    [],
    printed,
  )
  const found = errors.map(([, file, line]) => `${file}:${line}`)
  assert.deepEqual(new Set(found), new Set(wrongLines(wrongFiles)), printed)
}

function compiled(version, settings, files) {
  const compiler = join(installed(`typescript-${version}`, `typescript@${version}`), 'typescript', 'bin', 'tsc')
  const always = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--types', 'node']
  const all = [...always, '--pretty', 'false', '--skipLibCheck', 'false', ...settings, ...files]
  run(process.execPath, [compiler, ...all], folder)
}

function filesIn(name) {
  return readdirSync(join(folder, name)).map(file => `${name}/${file}`)
}

function runJest(version) {
  const name = `jest-${version}`
  const packages = installed(name, `jest@${version}`)
  write(`${name}/faces.test.js`, testFor('jest', true))
  run(process.execPath, [join(packages, 'jest', 'bin', 'jest.js'), '--ci'], join(folder, name))
}

function runVitest() {
  const packages = installed('vitest', `vitest@${devDependencies.vitest}`)
  write('vitest/faces.test.mjs', testFor('vitest', false))
  run(process.execPath, [join(packages, 'vitest', 'vitest.mjs'), 'run'], join(folder, 'vitest'))
}

function runNodeTest(file, isCommon) {
  write(`node/${file}`, testFor('node:test', isCommon))
  run(process.execPath, ['--test', file], join(folder, 'node'))
}

function runBothSystems() {
  write('node/both.mjs', bothSystems)
  run(process.execPath, ['both.mjs'], join(folder, 'node'))
}

/** Returns the packages of a project of its own, which also finds those of the folder above. */
function installed(name, wanted) {
  const packages = join(folder, name, 'node_modules')
  write(`${name}/package.json`, JSON.stringify({ name, private: true }))
  if (!existsSync(packages)) install(join(folder, name), '--no-save', wanted)
  return packages
}

function write(name, text) {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}
