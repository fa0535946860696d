/** Files of an archive that the user chooses. Another choice is another option of the same archive. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest } from '../../../src/index.js'
import { tarOf, zipOf } from '../../support/facts/archives.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

async function load(name: string, members?: string, more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({
    source: path(name),
    ...smallBatches(),
    ids: 'field',
    idField: 'n',
    op: 'index',
    members,
    ...more,
  })
}

const rows = (from: number, count: number) =>
  `n\n${Array.from({ length: count }, (_, at) => `${from + at}\n`).join('')}`

test.each(['zip', 'tar'])('a choice is known, and all files are loaded later: %s', async kind => {
  const files = [
    { name: 'README.md', data: '# Read\n' },
    { name: 'a/one.csv', data: rows(0, 2) },
    { name: 'a/two.json', data: '[{"n":9}]' },
  ]
  await writeFile(path(`a.${kind}`), (kind === 'zip' ? zipOf : tarOf)(files))
  expect(await load(`a.${kind}`, '*.csv')).toMatchObject({ read: 2, created: 2 })
  expect(await load(`a.${kind}`, '*.csv')).toMatchObject({ read: 0 })
  expect(await codeOf(load(`a.${kind}`))).toMatch(/^RUN_OPTIONS_CHANGED/)
  await load(`a.${kind}`, undefined, { again: true })
  expect(lab.control.ids(index).toSorted()).toEqual(['0', '1', '9'])
  expect(await codeOf(load(`a.${kind}`, '*.xml', { again: true }))).toMatch(/^INPUT_UNREADABLE/)
})

test('an interrupted load of chosen files continues behind what it has loaded', async () => {
  const files = ['b.ndjson', 'a.csv', 'x.csv'].map((name, at) => ({
    name,
    data: name.endsWith('.csv') ? rows(at * 1000, 800) : '{"n":"other"}\n',
  }))
  await writeFile(path('a.zip'), zipOf([{ name: 'LICENSE', data: 'Do\n' }, ...files]))
  const controller = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created >= 300) controller.abort('test')
  }
  expect(await codeOf(load('a.zip', '*.csv', { signal: controller.signal, onEvent }))).toMatch(/^RUN_INTERRUPTED/)
  const receipt = await load('a.zip', '*.csv')
  expect(receipt).toMatchObject({ created: 1600, updated: 0, status: 'finished' })
  expect(lab.control.ids(index)).toHaveLength(1600)
})
