/** Makes the JSON Schema of sluice.config.json, for editors. It describes what the file may hold, and not what fits together. */

/** @param options described options */
export function configSchema(options) {
  const inFile = options.filter(({ name, flag }) => name !== 'config' && flag !== undefined)
  const properties = Object.fromEntries(inFile.map(option => [option.name, property(option)]))
  const earlier = inFile.filter(({ name, flagKey }) => name !== flagKey).map(option => [option.flagKey, property(option)])
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'sluice.config.json',
    description: 'Options of Sluice. Flags and the environment count more than this file.',
    type: 'object',
    properties: { $schema: { type: 'string' }, ...properties, ...Object.fromEntries(earlier) },
    additionalProperties: false,
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}

function property(option) {
  const described = describe(option)
  return option.replaced === undefined ? described : { ...described, deprecated: true }
}

function describe({ doc, default: preset, kind }) {
  const { shape = 'text', choices, range, isRepeated } = kind
  const description = preset === undefined || shape === 'switch' ? doc : `${doc}. Default: ${preset}`
  // The file may hold each value as text, as the command line does.
  switch (shape) {
    case 'switch':
      return { description, anyOf: [{ type: 'boolean' }, { enum: ['true', 'false', 'yes', 'no', 'on', 'off'] }] }
    case 'choice':
      return { description, enum: choices }
    case 'number':
      return { description, anyOf: [{ type: 'integer', minimum: range.min, maximum: range.max }, number] }
    case 'text':
      return isRepeated
        ? { description, anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }
        : { description, type: ['string', 'number'] }
  }
}

/** Digits, with `_` between them if people like. */
const number = { type: 'string', pattern: '^\\d+(_\\d+)*$' }
