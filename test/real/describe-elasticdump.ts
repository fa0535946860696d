import { beforeAll, describe, expect, test } from 'vitest'
import { kill } from '../support/command/kill.js'
import { movedDocument, refusedIds } from './move-documents.js'
import { installElasticdump, startElasticdump } from './move-peers.js'
import { fillOld, makeTarget, moveArgs, type Moving, receiptOf, start } from './move-world.js'

const INDEX = 'small'
const MOST = Number(process.env.PEER_DOCUMENTS ?? 50_000)

interface Row {
  readonly fault: string
  readonly sluice: string
  readonly elasticdump: string
}

/** Moves an index by elasticdump and by Sluice, with the same faults, and prints what each did. */
export function describeElasticdump(given: () => Moving): void {
  describe('elasticdump beside Sluice', () => {
    const rows: Row[] = []
    const moving = (): Moving => ({ ...given(), from: INDEX, documents: Math.min(MOST, given().documents) })
    beforeAll(async () => {
      installElasticdump()
      await fillOld(moving())
    })

    const urls = (index: string): [string, string] => {
      const { world, old } = moving()
      const withLogin = (url: string, { username, password }: { username: string; password: string }) =>
        Object.assign(new URL(url), { username, password }).href
      return [withLogin(`${old.url}/${INDEX}`, old), withLogin(`${world.cluster.httpUrl}/${index}`, world.cluster)]
    }
    const dump = (index: string) => startElasticdump(...urls(index))
    const count = async (index: string) => await moving().world.count(index)

    test('moves an index with refused documents and long numbers', async () => {
      const { world, documents } = moving()
      const refused = refusedIds(documents).length
      await makeTarget(moving(), 'small-dumped')
      const dumped = await dump('small-dumped').ended
      await makeTarget(moving(), 'small-moved')
      const load = start(moving(), moveArgs(moving(), 'small-moved'))
      const receipt = receiptOf(await load.running.ended)
      expect(receipt).toMatchObject({ created: documents - refused, rejected: refused })
      const rate = (seconds: number) => `${Math.round(documents / seconds).toLocaleString('en')} documents/s`
      rows.push({
        fault: `none: ${documents.toLocaleString('en')} documents`,
        sluice: `${load.seconds().toFixed(1)} s, ${rate(load.seconds())}`,
        elasticdump: `${dumped.seconds.toFixed(1)} s, ${rate(dumped.seconds)}`,
      })
      rows.push({
        fault: `the target refuses ${refused} documents`,
        sluice: `exit code 1, ${await count('small-moved')} stored, ${receipt.rejected} in the dead letters`,
        elasticdump: `exit code ${dumped.code}, ${await count('small-dumped')} stored. Last lines: ${lastLines(dumped.output)}`,
      })
      const changed = async (index: string) => {
        let left = 0
        const odd = Array.from({ length: Math.ceil(documents / 1000) }, (_, at) => movedDocument(at * 1000 + 1))
        for (const { id, text } of odd) {
          const stored = await world.source(index, id)
          if (stored !== text) left += 1
        }
        return `${left} of ${odd.length} changed`
      }
      rows.push({
        fault: 'integers of 19 digits, 1.0, 1.50E+10',
        sluice: await changed('small-moved'),
        elasticdump: await changed('small-dumped'),
      })
    })

    test('is killed', async () => {
      const { documents } = moving()
      await makeTarget(moving(), 'small-killed')
      const dumped = dump('small-killed')
      await eventually(async () => (await count('small-killed')) > documents / 3)
      dumped.child.kill('SIGKILL')
      await dumped.ended
      const again = await dump('small-killed').ended
      await makeTarget(moving(), 'small-killed-moved')
      const load = start(moving(), moveArgs(moving(), 'small-killed-moved'))
      await eventually(async () => (await count('small-killed-moved')) > documents / 3)
      await kill(load.running)
      const receipt = receiptOf(await start(moving(), moveArgs(moving(), 'small-killed-moved')).running.ended)
      rows.push({
        fault: 'killed after a third, and started again',
        sluice: `the second run reads ${receipt.thisProcess.read} of ${documents} documents`,
        elasticdump: `the second run reads ${sentBy(again.output)} of ${documents} documents`,
      })
    })

    test('loses the old cluster for a while', async () => {
      const { documents, old } = moving()
      await makeTarget(moving(), 'small-cut')
      const dumped = dump('small-cut')
      await eventually(async () => (await count('small-cut')) > documents / 3)
      await old.restart()
      const { code, output } = await dumped.ended
      await makeTarget(moving(), 'small-cut-moved')
      const load = start(moving(), moveArgs(moving(), 'small-cut-moved', '--max-rate', `${documents >> 3}docs/s`))
      await eventually(async () => (await count('small-cut-moved')) > documents / 3)
      await old.restart()
      const receipt = receiptOf(await load.running.ended)
      expect(receipt).toMatchObject({ status: 'finished', read: documents })
      rows.push({
        fault: 'the old cluster is restarted',
        sluice: `exit code 1 (rejected documents), ${await count('small-cut-moved')} stored`,
        elasticdump: `exit code ${code}, ${await count('small-cut')} stored. Last lines: ${lastLines(output)}`,
      })
      const table = rows.map(row => `| ${row.fault} | ${row.sluice} | ${row.elasticdump} |`).join('\n')
      console.log(`| Fault | Sluice | elasticdump |\n| --- | --- | --- |\n${table}`)
    })
  })
}

/** How many documents elasticdump says that it has sent. */
function sentBy(output: string): number {
  return [...output.matchAll(/sent (\d+) objects|got (\d+) objects/g)].reduce(
    (sum, [, , got = '0']) => sum + Number(got),
    0,
  )
}

function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-3).join(' / ')
}

async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { timeout: 120_000, interval: 20 }).toBe(true)
}
