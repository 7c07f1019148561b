// No packages needed: Node 18 and browsers have fetch.
const { URL_OF_CALLHOUSE = 'http://127.0.0.1:6400', KEY, CALL_ID } = process.env
const project = 'acme/demo'

async function giveFeedback(callId, feedbackType, payload) {
  const response = await fetch(`${URL_OF_CALLHOUSE}/feedback/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      project_id: project,
      weave_ref: `weave:///${project}/call/${callId}`,
      feedback_type: feedbackType,
      payload,
    }),
  })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  return (await response.json()).id
}

console.log(await giveFeedback(CALL_ID, 'wandb.reaction.1', { emoji: '👎' }))
console.log(await giveFeedback(CALL_ID, 'app.rating', { stars: 2 }))
