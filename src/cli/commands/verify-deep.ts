/** Compares a run with the cluster that it read: what `sluice verify RUN --deep` does. */
import type { DeepVerification } from '../../index.js'
import { knownSecrets } from '../../base/secrets.js'
import { shown } from '../../base/text/shown.js'
import { invalid } from '../../options/option-checks.js'
import { readFromAccess } from '../settings/option-files.js'
import { balance, columns, count, countRows, plural } from '../terminal/columns.js'
import { keepSecrets } from '../terminal/terminal.js'
import { type Verifying, verifyWith } from './verify-with.js'

/** Returns the exit code. Throws SluiceError: see `verifyDeep`. */
export async function compareWithSource(run: string, verifying: Verifying): Promise<number> {
  const from = await readFromAccess(verifying.effective, undefined)
  if (from === undefined) throw invalid('--deep', 'needs --from: the URL of the cluster that the run read')
  const { proxy, ...login } = from
  keepSecrets(verifying.terminal, knownSecrets(login, proxy?.toString()))
  const { verifyDeep } = await import('../../programs/verify/verify-deep.js')
  return await verifyWith(run, verifying, async options => await verifyDeep({ ...options, from }), show)
}

function show(seen: DeepVerification): string {
  const { inputs, checkpoint, from, cluster, index, notes, onlyInTarget, onlyInTargetIds } = seen
  const only = onlyInTargetIds.map(id => [id])
  return [
    shown`${title(seen)}\n\n`,
    columns(counts(seen), '  '),
    `\n  ${balance(
      ['documents', seen.documents],
      (['equal', 'rejected', 'missing', 'different', 'unread'] as const).map(name => [name, seen[name]]),
    )}\n`,
    inputs.length < 2 ? '' : `\n${columns([inputHead, ...inputs.map(inputRow)], '  ')}`,
    list('Missing', rows(seen, 'missing', 'missingIds')),
    list('Different', rows(seen, 'different', 'differentIds')),
    list('Written in the source since, or not read yet', rows(seen, 'unread', 'unreadIds')),
    list('Only in the target', onlyInTarget > only.length ? [...only, more(onlyInTarget - only.length)] : only),
    '\n',
    columns(
      [
        ['from', from],
        ['index', index],
        ['cluster', cluster],
        ['checkpoint', checkpoint],
        ...notes.map(note => ['note', note]),
      ],
      '  ',
    ),
  ].join('')
}

function title({ run, ok, missing, different, onlyInTarget, documents }: DeepVerification): string {
  if (ok) return `Run ${run}: equal`
  const wrong = [
    ...(missing === 0 ? [] : [`${count(missing)} of ${plural(documents, 'document')} missing`]),
    ...(different === 0 ? [] : [`${count(different)} different`]),
    ...(onlyInTarget === 0 ? [] : [`${count(onlyInTarget)} only in the target`]),
  ]
  return `Run ${run}: ${wrong.join(', ')}`
}

const meanings = {
  equal: 'the same id and the same document',
  rejected: 'rejected when they were loaded',
  missing: 'not in the target',
  different: 'in the target, with another document',
  unread: 'written in the source since, or not read yet',
  onlyInTarget: 'in the target, and no longer in the source, or never',
} as const

function counts(seen: DeepVerification): string[][] {
  const always: readonly string[] = ['equal', 'missing', 'different']
  const names = (Object.keys(meanings) as (keyof typeof meanings)[]).filter(
    name => always.includes(name) || seen[name] > 0,
  )
  const documents = ['documents', seen.documents, 'in the source'] as const
  return countRows([
    documents,
    ...names.map(name => [name === 'onlyInTarget' ? 'only in target' : name, seen[name], meanings[name]] as const),
  ])
}

const inputHead = ['documents', 'equal', 'rejected', 'missing', 'different', 'unread', 'input']

function inputRow(input: DeepVerification['inputs'][number]): string[] {
  const { documents, equal, rejected, missing, different, unread, name } = input
  return [...[documents, equal, rejected, missing, different, unread].map(count), name]
}

function rows(
  { inputs }: DeepVerification,
  all: 'missing' | 'different' | 'unread',
  ids: 'missingIds' | 'differentIds' | 'unreadIds',
): string[][] {
  return inputs.flatMap(input => [
    ...input[ids].map(id => [id, input.name]),
    ...(input[all] > input[ids].length ? [[...more(input[all] - input[ids].length), input.name]] : []),
  ])
}

function more(left: number): string[] {
  return [`… ${count(left)} more`]
}

function list(head: string, all: readonly string[][]): string {
  return all.length === 0 ? '' : `\n${head}\n\n${columns(all, '  ')}`
}
