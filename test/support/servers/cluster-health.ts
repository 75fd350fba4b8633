/** Whether a node of Elasticsearch or OpenSearch on this machine is ready. */
export async function answersHealthy(port: number | undefined): Promise<boolean> {
  const question = `http://127.0.0.1:${port}/_cluster/health?wait_for_status=yellow&timeout=2s`;
  const answer = await fetch(question, { signal: AbortSignal.timeout(5_000) });
  return answer.ok;
}
