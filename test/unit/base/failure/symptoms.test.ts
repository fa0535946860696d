import { describe, expect, test } from 'vitest'
import { failureCodes } from '../../../../src/base/failure/failure.js'
import { lookUp, symptoms } from '../../../../src/base/failure/symptoms.js'
import { contractErrors } from '../../../support/facts/contract-errors.js'

describe("the contract's error table", () => {
  // One of its rows is two here: a wrong port shows otherwise than wrong credentials.
  test('is here, all fourteen rows', () => {
    expect(contractErrors).toHaveLength(15)
    expect(new Set(contractErrors.map(({ row }) => row)).size).toBe(15)
  })

  test.each(contractErrors)('has codes or a reason for: $row', ({ codes, reason }) => {
    expect(codes.length > 0).toBe(reason === undefined)
    expect(codes.filter(code => !failureCodes.includes(code))).toEqual([])
  })

  const asked = contractErrors.flatMap(({ ask, ...row }) => (ask === undefined ? [] : [{ ask, ...row }]))
  test.each(asked)("leads '$ask' to its codes", ({ ask, codes }) => {
    const found = lookUp(ask).symptoms
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(symptom => codes.every(code => symptom.codes.includes(code)))).not.toEqual([])
  })

  test('401 leads to every possible sender: the cluster, the instance, and the proxy that answers so', () => {
    const found = lookUp('401').symptoms
    expect(found.map(({ where }) => where)).toEqual(expect.arrayContaining(['cluster', 'instance']))
    const codes = found.flatMap(symptom => symptom.codes)
    for (const code of ['CLUSTER_AUTH_REJECTED', 'SERVICENOW_AUTH_REJECTED', 'SERVICENOW_TOKEN_REFUSED'] as const)
      expect(codes).toContain(code)
  })

  test('the OTLP row says that it is no fault of the filter', () => {
    const [symptom, ...others] = lookUp('otlp').symptoms
    expect(others).toEqual([])
    expect(symptom?.codes).toEqual([])
    expect(symptom?.note).toContain('not a fault of the IP filter')
  })
})

describe('symptoms', () => {
  test('name each code once, and say what tells them apart', () => {
    for (const { symptom, codes, note } of symptoms) {
      expect({ symptom, codes: codes.length }).toEqual({ symptom, codes: new Set(codes).size })
      expect(note).toMatch(/\.$/)
    }
  })

  test('lead to every failure of proxy, filter, cluster and instance', () => {
    const named = new Set(symptoms.flatMap(({ codes }) => codes))
    const left = failureCodes.filter(
      code => /^(PROXY|EGRESS|FILTER_(?!UNCONFIRMED)|CLUSTER|SERVICENOW)/.test(code) && !named.has(code),
    )
    expect(left).toEqual([])
  })
})

describe('words', () => {
  test('are found as the beginning of a word, numbers as they are', () => {
    expect(lookUp('certif').symptoms.length).toBeGreaterThan(0)
    expect(lookUp('ertificate')).toEqual({ symptoms: [], codes: [], errors: [] })
    expect(lookUp('40')).toEqual({ symptoms: [], codes: [], errors: [] })
  })

  test('find error types of Elasticsearch by their name or their meaning', () => {
    for (const words of ['strict_dynamic_mapping_exception', 'strict dynamic', 'mapping is strict'])
      expect(lookUp(words).errors.map(({ type }) => type)).toEqual(['strict_dynamic_mapping_exception'])
  })

  test('have to be there all', () => {
    expect(lookUp('request aborted').codes).toContain('PROXY_AUTH_REJECTED')
    expect(lookUp('aborted wombat')).toEqual({ symptoms: [], codes: [], errors: [] })
  })

  test('find codes by a part of their name, their title or what other tools say', () => {
    expect(lookUp('partly').codes).toEqual(['EGRESS_PARTLY_ALLOWED', 'SERVICENOW_PARTLY_ALLOWED'])
    expect(lookUp('"socket hang up"').codes).toEqual(['DOCUMENT_TOO_LARGE', 'CLUSTER_UNAVAILABLE'])
  })

  test.each(['', '   ', '"', '(', '\\', '.*', '$^'])('that are none find nothing: %j', text => {
    expect(lookUp(text)).toEqual({ symptoms: [], codes: [], errors: [] })
  })
})
