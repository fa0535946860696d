import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { describeOption, optionNames } from '../../../src/options/describe-option.js'
import { resolveOptions } from '../../../src/cli/settings/resolve.js'

interface Property {
  readonly enum?: readonly string[]
  readonly anyOf?: readonly { readonly type?: string; readonly minimum?: number; readonly maximum?: number }[]
}

interface Schema {
  readonly properties: Readonly<Record<string, Property>>
  readonly additionalProperties: boolean
}

const path = new URL('../../../schema/sluice.config.schema.json', import.meta.url)
const { properties, additionalProperties } = JSON.parse(readFileSync(path, 'utf8')) as Schema

const read = (values: object) => resolveOptions({ flags: {}, env: {}, file: { path: 'sluice.config.json', values } })

test('the schema has each key that the file may have, and no other', () => {
  const known = optionNames
    .map(describeOption)
    .flatMap(({ name, flag, flagKey }) => (name === 'config' || flag === undefined ? [] : [name, flagKey]))
  expect(new Set(Object.keys(properties))).toEqual(new Set(['$schema', ...known]))
  expect(additionalProperties).toBe(false)
  expect(() => read({ $schema: './schema.json', batchBytes: '1mb' })).not.toThrow()
  expect(() => read({ $schemas: 'x' })).toThrow(/unknown key \$schemas/)
})

test('each value that the schema lists is one that the table takes', () => {
  for (const name of optionNames.filter(one => one in properties)) {
    const { kind } = describeOption(name)
    const { enum: values = [], anyOf = [] } = properties[name] ?? {}
    const numbers = anyOf.flatMap(({ minimum, maximum }) => [minimum, maximum]).filter(one => one !== undefined)
    const switches = anyOf.some(({ type }) => type === 'boolean') ? [true, false] : []
    for (const value of [...values, ...numbers, ...switches])
      expect([name, value, kind.read(value)]).toEqual([
        name,
        value,
        expect.not.objectContaining({ text: expect.anything() }),
      ])
  }
})
