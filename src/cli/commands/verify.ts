import type { Command } from 'commander'
import type { Verification, VerifiedInput } from '../../index.js'
import { addOptions } from '../terminal/help.js'
import { balance, columns, count, countRows, plural } from '../terminal/columns.js'
import { loadForCluster } from '../application/load-options.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'
import { invalid } from '../../options/option-checks.js'
import { compareWithSource } from './verify-deep.js'
import { verifyWith } from './verify-with.js'

interface Flags extends Record<string, unknown> {
  readonly deep?: boolean
}

export function defineVerify(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'verify')
    .argument('<run>', 'id of the run (see sluice runs), or the path of its checkpoint')
    .option('--deep', 'compare each document with the cluster that the run read (--from)')
    .addHelpText(
      'after',
      `
Examples:
  sluice verify 20261121T100338Z-225173
  sluice verify 20261121T100338Z-225173 --json | jq -r '.inputs[].missingIds[]'
  sluice verify 20261121T100338Z-225173 --deep --from https://old.example:9200

Sluice works from the checkpoint. If only the files of the run hold the ids, it
reads them again: they must be as they were.
Exit code 1 means that documents are missing or doubled, or that other documents
have ids like those of the run.`,
    )
    .action(async (run: string, { deep = false, ...flags }: Flags) => {
      const { effective, connecting } = await loadForCluster(flags, terminal)
      const verifying = { effective, connecting, terminal }
      if (deep) return done(await compareWithSource(run, verifying))
      if (effective.origins.from.startsWith('--')) throw invalid('--from', 'needs --deep')
      const { verify } = await import('../../programs/verify/verify.js')
      done(await verifyWith(run, verifying, verify, show))
    })
}

function show(seen: Verification): string {
  const { inputs, checkpoint, cluster, index, notes } = seen
  return [
    shown`${title(seen)}\n\n`,
    columns(counts(seen), '  '),
    `\n  ${balance(
      ['documents', seen.documents],
      (['found', 'rejected', 'missing'] as const).map(name => [name, seen[name]]),
    )}\n`,
    inputs.length < 2 ? '' : `\n${columns([inputHead, ...inputs.map(inputRow)], '  ')}`,
    list(seen.missing === 0 ? 'Rejected, but the dead letters are gone' : 'Missing', inputs, 'missingIds', 'missing'),
    list('Doubled', inputs, 'doubledIds', 'doubled'),
    list('Foreign', inputs, 'foreignIds', 'foreign'),
    '\n',
    columns(
      [['index', index], ['cluster', cluster], ['checkpoint', checkpoint], ...notes.map(note => ['note', note])],
      '  ',
    ),
  ].join('')
}

function title({ run, ok, missing, foreign, doubled, documents }: Verification): string {
  if (ok) return `Run ${run}: all there`
  const wrong = [
    ...(missing === 0 ? [] : [`${count(missing)} of ${plural(documents, 'document')} missing`]),
    ...(doubled === 0 ? [] : [`${count(doubled)} doubled`]),
    ...(foreign === 0 ? [] : [`${count(foreign)} foreign`]),
  ]
  return `Run ${run}: ${wrong.join(', ')}`
}

const meanings = {
  found: '',
  rejected: 'rejected when they were loaded',
  missing: 'sent by the run, but not there',
  unsettled: 'found, and sent before the run stopped',
  doubled: 'in more than one index',
  foreign: 'ids like those of the run, but not its documents',
} as const

function counts(seen: Verification): string[][] {
  const names = (Object.keys(meanings) as (keyof typeof meanings)[]).filter(
    name => name === 'found' || name === 'missing' || seen[name] > 0,
  )
  const documents = ['documents', seen.documents, 'of the run, with a known outcome'] as const
  return countRows([documents, ...names.map(name => [name, seen[name], meanings[name]] as const)])
}

const inputHead = ['documents', 'found', 'rejected', 'missing', 'unsettled', 'input']

function inputRow({ documents, found, rejected, missing, unsettled, name }: VerifiedInput): string[] {
  return [...[documents, found, rejected, missing, unsettled].map(count), name]
}

function list(
  head: string,
  inputs: readonly VerifiedInput[],
  ids: 'missingIds' | 'foreignIds' | 'doubledIds',
  all: 'missing' | 'foreign' | 'doubled',
): string {
  const rows = inputs.flatMap(input => [
    ...input[ids].map(id => [id, input.name]),
    ...(input[all] > input[ids].length ? [[`… ${count(input[all] - input[ids].length)} more`, input.name]] : []),
  ])
  return rows.length === 0 ? '' : `\n${head}\n\n${columns(rows, '  ')}`
}
