/**
 * Turns facts into findings. Pure. The rules follow the order of the path, and each sees all facts. So the first
 * finding is the cause, and its consequences are not reported again.
 */
import type { Facts } from '../../route/examine/facts.js'
import type { Finding, FindingRule, Severity } from './report.js'
import * as cluster from './rules-of-the-cluster.js'
import * as instance from './rules-of-the-instance.js'
import * as way from './rules-of-the-way.js'

const rules: readonly FindingRule[] = [
  way.optionFindings,
  way.proxyFindings,
  way.certificateFindings,
  way.connectionFindings,
  cluster.egressFindings,
  cluster.filterFindings,
  cluster.clusterFindings,
  cluster.pastFindings,
  cluster.indexFindings,
  instance.instanceFindings,
  instance.doorFindings,
  instance.loginFindings,
  instance.tableFindings,
  instance.instancePastFindings,
  cluster.nodeFindings,
  way.clockFindings,
  way.rangeFindings,
]

/** Returns errors first, each kind in the order of the path. */
export function findingsOf(facts: Facts): readonly Finding[] {
  const found = rules.flatMap(rule => rule(facts)).filter(one => one !== undefined)
  const bySeverity = (severity: Severity) => found.filter(finding => finding.severity === severity)
  return [...bySeverity('error'), ...bySeverity('warning'), ...bySeverity('info')].filter(isNew)
}

/** Drops the second report of one thing that two probes met. */
function isNew(finding: Finding, at: number, all: readonly Finding[]): boolean {
  const factOf = ({ code, evidence }: Finding) => code + JSON.stringify(evidence)
  return all.findIndex(one => factOf(one) === factOf(finding)) === at
}
