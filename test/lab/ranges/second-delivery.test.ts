// @module-tag long
import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { ingestRanges, type InputRange, type RangeJob, type RangeOptions } from '../../../src/ingest-ranges.js'
import { cutInto, failed, foundInputs, numbered } from '../../support/load/ranges.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const options = () => ({ ...way(), index, deadLetters: path('dead.ndjson'), concurrency: 1, batchDocs: 50 })

async function ranges(bytes = 2000): Promise<InputRange[]> {
  await writeFile(path('a.ndjson'), numbered(300))
  const inputs = await foundInputs({ ...options(), source: path('a.ndjson') })
  return inputs.flatMap(input => cutInto(input, bytes))
}

const load = async (job: Omit<RangeJob, 'run'>, more: Partial<RangeOptions> = {}) =>
  await ingestRanges({ ...options(), ...more }, { run: 'job', ...job })

describe('a range that is delivered again', () => {
  test('after its worker has sent a part of it, stores the rest, and counts the part as duplicate', async () => {
    const all = await ranges()
    const stop = new AbortController()
    const onEvent: RangeOptions['onEvent'] = event => {
      if (event.type === 'progress' && event.counts.created >= 100) stop.abort()
    }
    const { code, receipt } = await failed(
      load({ ranges: all, isFirstDelivery: true }, { onEvent, signal: stop.signal }),
    )
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt.created).toBeGreaterThanOrEqual(100)
    expect(receipt.created).toBeLessThan(300)
    const again = await load({ ranges: all })
    expect(again).toMatchObject({ read: 300, duplicate: receipt.created, created: 300 - receipt.created, rejected: 0 })
    expect(lab.control.count(index)).toBe(300)
  })

  test.each([true, false])('is a duplicate, whether or not the worker knows of the first one (%s)', async isFirst => {
    const all = await ranges()
    await load({ ranges: all })
    expect(await load({ ranges: all, isFirstDelivery: isFirst })).toMatchObject({
      created: 0,
      duplicate: 300,
      unknown: 0,
    })
    // An operation that would overwrite finds its own documents, too.
    expect(await load({ ranges: all, isFirstDelivery: isFirst }, { op: 'index' })).toMatchObject({ duplicate: 300 })
  })

  test('after its data stream has rolled over, is found there and not stored twice', async () => {
    lab.control.createDataStream(index)
    const all = await ranges()
    await load({ ranges: all.slice(0, 3), isFirstDelivery: true })
    const before = lab.control.count(index)
    expect(before).toBeGreaterThan(0)
    lab.control.rollOver(index)
    expect(await load({ ranges: all })).toMatchObject({ duplicate: before, created: 300 - before })
    expect(lab.control.count(index)).toBe(300)
  })

  test('with ids of the users own is of unknown outcome, and a first one with a conflict is rejected', async () => {
    const given = { ids: 'field', idField: 'n' } as const
    const all = await ranges()
    expect(await load({ ranges: all, isFirstDelivery: true }, given)).toMatchObject({ created: 300 })
    expect(await load({ ranges: all }, given)).toMatchObject({ created: 0, duplicate: 0, unknown: 300, rejected: 0 })
    expect(await load({ ranges: all, isFirstDelivery: true }, given)).toMatchObject({ rejected: 300, unknown: 0 })
    expect(await load({ ranges: all }, { ...given, op: 'index' })).toMatchObject({ updated: 300 })
  })

  test('with ids of the cluster is stored twice, and the receipt does not hide it', async () => {
    const warnings: string[] = []
    const onEvent: RangeOptions['onEvent'] = event => {
      if (event.type === 'warning') warnings.push(event.message)
    }
    const all = await ranges()
    expect(await load({ ranges: all, isFirstDelivery: true }, { ids: 'cluster', onEvent })).toMatchObject({
      created: 300,
    })
    expect(warnings).toEqual([])
    expect(await load({ ranges: all }, { ids: 'cluster', onEvent })).toMatchObject({ created: 300 })
    expect(warnings).toEqual([expect.stringContaining('may be stored twice')])
  })
})
