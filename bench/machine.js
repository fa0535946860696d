import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { benchFolder, projectFolder } from './prepare.js'

/** On what was measured, and which versions. */
export function describeMachine(programs, { sluice }) {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 1e9),
    kernel: release().split('-')[0],
    versions: {
      Sluice: sluice === undefined ? `${versionIn(projectFolder)} (${commit()})` : 'as given',
      'Node.js': process.versions.node,
      '@elastic/elasticsearch': installed('@elastic/elasticsearch'),
      elasticdump: installed('elasticdump'),
      'undici of the bare loader': installed('undici'),
      Python: programs.python && firstLine(programs.python, '--version').replace('Python ', ''),
      'elasticsearch (Python)': programs.python && requirement('elasticsearch'),
      Go: firstLine('go', 'env', 'GOVERSION').replace('go', ''),
      'go-elasticsearch': /go-elasticsearch\/v9 v(\S+)/.exec(
        readFileSync(join(benchFolder, 'peers/esutil/go.mod'), 'utf8'),
      )?.[1],
      curl: firstLine('curl', '--version').split(' ')[1],
      gcc: firstLine('gcc', '-dumpfullversion'),
      esbulk: programs.esbulk && firstLine(programs.esbulk, '-v'),
      docappender: programs.docappender && 'as given',
    },
  }
}

const versionIn = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version

const installed = name => versionIn(join(benchFolder, 'node_modules', name))

const requirement = name =>
  new RegExp(`^${name}==(.+)$`, 'm').exec(readFileSync(join(benchFolder, 'peers/requirements.txt'), 'utf8'))?.[1]

const firstLine = (command, ...words) =>
  (spawnSync(command, words, { encoding: 'utf8' }).stdout ?? '').split('\n')[0].trim()

function commit() {
  const git = (...words) => spawnSync('git', words, { cwd: projectFolder, encoding: 'utf8' }).stdout?.trim() ?? ''
  const changed = git('status', '--porcelain', '--', 'src', 'bin', 'package.json') !== ''
  return `${git('rev-parse', '--short', 'HEAD') || 'no checkout'}${changed ? ', with changes' : ''}`
}
