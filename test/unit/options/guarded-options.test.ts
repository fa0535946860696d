import { describe, expect, test } from 'vitest'
import { checkIngestOptions } from '../../../src/options/check-options.js'
import { type IngestOptions, isSluiceError } from '../../../src/index.js'
import { readJsonOptions } from '../../../src/cli/settings/option-files.js'
import { describeOption } from '../../../src/options/describe-option.js'
import { resolveOptions } from '../../../src/cli/settings/resolve.js'
import { failureOf } from '../../support/command/options-failure.js'

const query = { query: { match_all: {} } }

describe('options of a guarded load', () => {
  const rows: readonly [Record<string, unknown>, string, string][] = [
    [{ index: 'a', swapAlias: 'b' }, 'OPTION_INVALID', '--index: cannot be combined with --swap-alias'],
    [{ indexBody: '{}' }, 'OPTION_INVALID', '--index-body: needs --swap-alias'],
    [{ checkQuery: '{}', index: 'a' }, 'OPTION_INVALID', '--check-query: needs --swap-alias'],
    [{ checkHits: '2', swapAlias: 'b' }, 'OPTION_INVALID', '--check-hits: also needs --check-query'],
    [{ swapAlias: 'B' }, 'INDEX_NAME_INVALID', 'the index name "B" has upper-case letters. Write b'],
  ]
  test.each(rows)('%j', (flags, code, message) => {
    expect(failureOf({ flags, env: {} })).toMatchObject({ code, message })
  })

  test('the flag replaces what the environment says of its rival', () => {
    const env = { SLUICE_INDEX: 'logs' }
    expect(resolveOptions({ flags: { swapAlias: 'products' }, env }).values).toMatchObject({
      index: undefined,
      swapAlias: 'products',
    })
  })

  test('JSON is taken as it stands, or out of a file', async () => {
    const read = async (checkQuery: string, indexBody = '{}') => {
      const effective = resolveOptions({ flags: { swapAlias: 'products', indexBody, checkQuery }, env: {} })
      const files: Record<string, string> = { 'q.json': JSON.stringify(query), 'list.json': '[]' }
      return await readJsonOptions(effective, async path => {
        const text = files[path]
        if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
        return text
      }).catch((error: unknown) => (isSluiceError(error) ? error.message : error))
    }
    expect(await read('q.json')).toEqual({ indexBody: {}, checkQuery: query })
    expect(await read(JSON.stringify(query))).toEqual({ indexBody: {}, checkQuery: query })
    expect(await read('missing.json')).toBe('--check-query: cannot read missing.json: no such file')
    expect(await read('list.json')).toBe('--check-query: list.json is not a JSON object')
    expect(await read('{"query"')).toBe('--check-query: the value is not a JSON object')
  })

  test.each([
    [3, undefined],
    [undefined, undefined],
    [0, 'hits: 0 is not a whole number from 1 to 9007199254740991'],
    ['9', 'hits: a string is not a whole number from 1 to 9007199254740991'],
  ])('a query that must match %j documents', (hits, problem) => {
    expect(describeOption('checkQuery').kind.check({ ...query, hits })).toBe(problem)
  })

  test('are checked where a program gives them', () => {
    const problemOf = (more: Partial<IngestOptions>) => {
      try {
        checkIngestOptions({ source: 'a', target: { url: 'https://localhost:9200' }, ...more })
        return undefined
      } catch (error) {
        if (isSluiceError(error)) return error.message
        throw error
      }
    }
    expect(problemOf({ swapAlias: 'products', checkQuery: query, checkHits: 3, indexBody: {} })).toBeUndefined()
    expect(problemOf({})).toBe('index: is not set')
    expect(problemOf({ index: 'a', swapAlias: 'b' })).toBe('swapAlias: cannot be combined with index')
    expect(problemOf({ index: 'a', checkHits: 1 })).toBe('checkHits: needs swapAlias')
    expect(problemOf({ swapAlias: 'a', checkQuery: { size: 1, ...query } })).toMatch(/^checkQuery: is not an object/)
    expect(problemOf({ swapAlias: 'a', indexBody: { aliases: { a: {} } } })).toMatch(/^indexBody: contains the alias a/)
  })
})
