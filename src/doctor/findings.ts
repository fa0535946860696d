/**
 * Turns facts into findings. Pure. The rules follow the order of the path, and each sees all facts. So the first
 * finding is the cause, and its consequences are not reported again.
 */
import type { Facts } from './facts.js'
import type { Finding, FindingRule, Severity } from './report.js'
import {
  doorFindings,
  instanceFindings,
  instanceNodeFindings,
  instancePastFindings,
  loginFindings,
  tableFindings,
} from './rules-of-the-instance.js'
import { certificateFindings, connectionFindings, optionFindings, proxyFindings } from './rules-of-the-way.js'
import { egressFindings, filterFindings, pastFindings } from './rules-of-the-filter.js'
import { clockFindings, clusterFindings, indexFindings, nodeFindings, rangeFindings } from './rules-of-the-cluster.js'

/** In the order of the path. */
const rules: readonly FindingRule[] = [
  optionFindings,
  proxyFindings,
  certificateFindings,
  connectionFindings,
  egressFindings,
  filterFindings,
  clusterFindings,
  pastFindings,
  indexFindings,
  instanceFindings,
  doorFindings,
  loginFindings,
  tableFindings,
  instancePastFindings,
  nodeFindings,
  instanceNodeFindings,
  clockFindings,
  rangeFindings,
]

/** Errors first, each kind in the order of the path. */
export function findingsOf(facts: Facts): readonly Finding[] {
  const found = rules.flatMap(rule => rule(facts))
  const bySeverity = (severity: Severity) => found.filter(finding => finding.severity === severity)
  return [...bySeverity('error'), ...bySeverity('warning'), ...bySeverity('info')].filter(isNew)
}

/** Drops the second report of one thing that two probes met. */
function isNew(finding: Finding, at: number, all: readonly Finding[]): boolean {
  return all.findIndex(one => factOf(one) === factOf(finding)) === at
}

function factOf({ code, evidence }: Finding): string {
  return code + JSON.stringify(evidence)
}
