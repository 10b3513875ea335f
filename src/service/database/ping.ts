/** Of the store, what a ping needs: callers that hold less than a store can be pinged, too. */
type Pinged = { query(text: string): Promise<unknown> };

/** Asks the database the least that there is to ask. @throws StoreError where it does not answer */
export async function ping(store: Pinged): Promise<void> {
  await store.query('select 1');
}
