/** All small questions that a cluster answers about its indices and documents, and those that change them. */
import { readAlias, indicesBehind, removeAlias, switchAlias } from './alias.js'
import { viewOf } from './alias-view.js'
import { deleteFound } from './delete-found.js'
import type { Documents } from './documents.js'
import { findDocuments } from './find-documents.js'
import type { Indices, Privileges } from './indices.js'
import { refreshAll, seeBehind, seeIndices } from './many-indices.js'
import { mayFill } from './may-fill.js'
import { countDocuments, makeVisible, refresh, seeIndex, waitForCopies } from './one-index.js'
import { mayDelete, mayManage, mayRead } from './privileges.js'
import { highestNumber, readHits } from './read-hits.js'
import { readSources } from './read-sources.js'
import { type Call, type Called, call, type ReachedCluster } from './request.js'
import { walkIds } from './walk-ids.js'
import { findWriteIndex, makeNamed, makeStream } from './write-index.js'

/** Each question keeps within the limits of `cluster`. */
export interface Questions {
  readonly indices: Indices
  readonly documents: Documents
  readonly privileges: Privileges
  /**
   * Sends one small request about an index or alias, and judges the answer.
   * @throws SluiceError INDEX_REQUEST_REFUSED, RUN_INTERRUPTED if it was given up, and every failure of the route. After a failure of
   * the route the cluster may have carried out the request.
   */
  call(request: Call): Promise<Called>
}

export function questionsTo(cluster: ReachedCluster): Questions {
  return {
    indices: {
      see: async (index, signal) => await seeIndex(cluster, index, signal),
      seeAll: async (names, signal) => await seeIndices(cluster, names, signal),
      seeBehind: async (name, indices, signal) => await seeBehind(cluster, name, indices, signal),
      viewOf: async (name, seen) => await viewOf(cluster, name, seen),
      refresh: async index => await refresh(cluster, index),
      refreshAll: async names => await refreshAll(cluster, names),
      makeVisible: async index => await makeVisible(cluster, index),
      count: async (index, query) => await countDocuments(cluster, index, query),
      waitForCopies: async (index, seconds) => await waitForCopies(cluster, index, seconds),
      read: async name => await indicesBehind(cluster, name),
      findWriter: async name => await findWriteIndex(cluster, name),
      make: async (name, body) => await makeNamed(cluster, name, body),
      makeStream: async name => await makeStream(cluster, name),
      readAlias: async alias => await readAlias(cluster, alias),
      switchAlias: async (alias, to) => await switchAlias(cluster, alias, to),
      removeAlias: async (alias, index) => await removeAlias(cluster, alias, index),
    },
    documents: {
      find: async question => await findDocuments(cluster, question),
      readHits: async question => await readHits(cluster, question),
      highestNumber: async question => await highestNumber(cluster, question),
      readSources: async question => await readSources(cluster, question),
      walkIds: async walking => await walkIds(cluster, walking),
      delete: async (documents, deleting) => await deleteFound(cluster, documents, deleting),
    },
    privileges: {
      mayDelete: async index => await mayDelete(cluster, index),
      mayManage: async (index, what) => await mayManage(cluster, index, what),
      mayRead: async (indices, what) => await mayRead(cluster, indices, what),
      mayFill: async filling => await mayFill(cluster, filling),
    },
    call: async request => await call(cluster, request),
  }
}
