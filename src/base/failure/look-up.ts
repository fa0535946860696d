import { type FailureCode, explain, failureCodes } from './catalogue.js'
import { type IndexError, indexErrors } from './index-errors.js'
import { type Symptom, symptoms } from './symptoms.js'

export interface Found {
  readonly symptoms: readonly Symptom[]
  /** Failures that speak of it themselves, in the order of the path. */
  readonly codes: readonly FailureCode[]
  /** Elasticsearch's own errors for single documents. */
  readonly errors: readonly IndexError[]
}

/**
 * Finds symptoms and failures that contain every word of the text: numbers as they are, other words as the start of a
 * word.
 */
export function lookUp(text: string): Found {
  const words = text
    .split(/\s+/)
    .map(word => word.replaceAll(/^\W+|\W+$/g, ''))
    .filter(word => word !== '')
  if (words.length === 0) return { symptoms: [], codes: [], errors: [] }
  const patterns = words.map(
    word => new RegExp(`\\b${word.replaceAll(/\W/g, String.raw`\$&`)}${/^\d+$/.test(word) ? '\\b' : ''}`, 'i'),
  )
  const holds = (...texts: readonly string[]) => patterns.every(pattern => pattern.test(texts.join('\n')))
  return {
    symptoms: symptoms.filter(({ symptom, when, note }) => holds(symptom, when, note)),
    codes: failureCodes.filter(code => {
      const { title, observed, causes } = explain(code)
      return holds(code.replaceAll('_', ' '), title, observed, ...causes)
    }),
    errors: indexErrors.filter(({ type, meaning }) => holds(type, type.replaceAll('_', ' '), meaning)),
  }
}
