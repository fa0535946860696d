import { expect, test } from 'vitest'
import { AddedRounds } from '../../../../src/features/follow/add-round.js'
import type { RoundInput } from '../../../../src/features/follow/round-input.js'
import { nothing } from '../../../../src/pipeline/ledger/account.js'
import type { InputReceipt, Receipt } from '../../../../src/pipeline/ledger/receipt.js'

/** A round that has stored so many documents. `read`: those of the whole run. */
function round(read: number, created: number, inputs: readonly InputReceipt[]): Receipt {
  return {
    ...nothing,
    run: 'one',
    status: 'finished',
    command: 'ingest',
    began: `began ${read}`,
    ended: `ended ${read}`,
    exit: 0,
    target: { url: 'https://cluster.example', index: 'logs' },
    read,
    created: read,
    inputs,
    thisProcess: { ...nothing, read: created, created },
    rejections: [],
    bytes: { read: created * 10, sent: read * 20, received: read },
    requests: 1,
    retries: 0,
    elapsedMs: 500,
    docsPerSecond: created * 2,
    route: { form: 'direct', connections: 1 },
    egress: {},
    cluster: { url: 'https://cluster.example' },
  }
}

const source = (name: string, followed = { counted: 0 }) => ({ name, followed }) as unknown as RoundInput

test('rounds of one run have one receipt, and one account for each name', () => {
  const rounds = new AddedRounds()
  const renamed = source('a')
  rounds.add(round(5, 5, [{ name: 'a', status: 'finished', read: 5 }]), [source('b'), renamed])
  const fresh = source('a')
  rounds.add(
    round(9, 4, [
      { name: 'a', status: 'finished', read: 6 },
      { name: 'a', status: 'finished', read: 3 },
    ]),
    [renamed, fresh],
  )
  rounds.add(round(10, 1, [{ name: 'a', status: 'finished', read: 4 }]), [source('b'), fresh])
  expect(rounds.receipt).toMatchObject({
    began: 'began 5',
    ended: 'ended 10',
    read: 10,
    thisProcess: { read: 10, created: 10 },
    inputs: [{ name: 'a', read: 10 }],
    bytes: { read: 100, sent: 200, received: 10 },
    requests: 3,
    elapsedMs: 1500,
    docsPerSecond: 7,
  })
})
