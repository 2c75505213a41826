/* The interface between Trivet and an engine that runs graphs for it (an execution provider).
 *
 * A C ABI with a version, so that an engine can be built apart, with another compiler, and loaded
 * at run time. Rules that hold throughout:
 *  - A function that can fail returns 0, or a TrvCode and one line in *error.
 *  - Strings are UTF-8, end in 0, and belong to whoever hands them out, for as long as that
 *    lives.
 *  - A table may grow at its end within one ABI version; `size` says how much of it is there.
 */
#ifndef TRIVET_PROVIDER_H_
#define TRIVET_PROVIDER_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRV_PROVIDER_ABI_VERSION 1u

typedef enum TrvCode {
  TRV_OK = 0,
  TRV_INVALID_MODEL = 1,
  TRV_UNSUPPORTED = 2,
  TRV_INVALID_ARGUMENT = 3,
  TRV_IO = 4,
  TRV_OUT_OF_MEMORY = 5,
  TRV_FAILED = 6
} TrvCode;

/* Filled by the function that failed; a longer message is cut. */
typedef struct TrvError {
  int32_t code;
  char message[1020];
} TrvError;

typedef struct TrvGraph TrvGraph;       /* a graph, or the part of one that a provider shall run */
typedef struct TrvThreads TrvThreads;   /* the session's worker threads */
typedef struct TrvCompiled TrvCompiled; /* what a provider makes of a graph; its own type */

typedef struct TrvString {
  const char* data; /* not ended by 0 */
  size_t size;      /* bytes */
} TrvString;

/* A dense row-major tensor. `dtype` is ONNX's TensorProto.DataType; elements of 2 and 4 bits are
 * packed, the first in the low bits. For strings `data` is an array of TrvString. */
typedef struct TrvTensor {
  int32_t dtype;
  int32_t rank;
  const int64_t* dims;
  const void* data;
  size_t bytes;
} TrvTensor;

/* Receives a piece of a byte stream; returns 0 to go on. */
typedef int32_t (*TrvWrite)(void* user, const void* data, size_t bytes);

/* What Trivet offers to a provider. All functions may be called from any thread. */
typedef struct TrvHost {
  uint32_t abi_version;
  uint32_t size; /* sizeof(TrvHost) of the host */

  size_t (*input_count)(const TrvGraph* graph);
  size_t (*output_count)(const TrvGraph* graph);
  const char* (*input_name)(const TrvGraph* graph, size_t input);
  const char* (*output_name)(const TrvGraph* graph, size_t output);
  /* Nodes in topological order. */
  size_t (*node_count)(const TrvGraph* graph);
  const char* (*node_name)(const TrvGraph* graph, size_t node);
  const char* (*node_op_type)(const TrvGraph* graph, size_t node);
  const char* (*node_domain)(const TrvGraph* graph, size_t node);
  int32_t (*node_opset)(const TrvGraph* graph, size_t node);
  /* The graph as a complete ONNX model file, weights included. */
  int32_t (*serialize)(const TrvGraph* graph, TrvWrite write, void* user, TrvError* error);

  size_t (*thread_count)(const TrvThreads* threads);
  /* Calls run(user, task, worker) for each task, spread over the workers; returns after the last.
   */
  void (*parallel_for)(TrvThreads* threads, size_t tasks,
                       void (*run)(void* user, size_t task, size_t worker), void* user);
} TrvHost;

/* A wish of the caller. `memory` = `low`: weights take as little room as can be. `max_memory` = N:
 * at most N bytes of the model are resident at any time. `tune` = `quick` or `full`: time the ways
 * to compute a node on this machine and keep the fastest, in the file that `tune_cache` names. */
typedef struct TrvSetting {
  const char* name;
  const char* value;
} TrvSetting;

typedef struct TrvCompileOptions {
  uint32_t size;       /* sizeof(TrvCompileOptions) of the host */
  TrvThreads* threads; /* outlives what is compiled */
  /* During the call. An engine may leave alone what it does not know, except `max_memory`, which it
   * is given only when its table has `prepare`. */
  size_t setting_count;
  const TrvSetting* settings;
} TrvCompileOptions;

/* Where outputs go. The provider asks once for each output, when it knows the shape. */
typedef struct TrvOutputs {
  void* user;
  /* Memory for output `index`, aligned to 64 bytes; null, with the error filled, for none. */
  void* (*allocate)(void* user, size_t index, int32_t dtype, int32_t rank, const int64_t* dims,
                    TrvError* error);
  /* Output `index` is of strings: they are copied. */
  int32_t (*set_strings)(void* user, size_t index, int32_t rank, const int64_t* dims,
                         const TrvString* values, TrvError* error);
} TrvOutputs;

/* One step of a profiled run. */
typedef struct TrvStep {
  /* Which nodes of the compiled graph it is, as indices; several where they run as one, none where
   * the engine cannot say. The pointers stay valid until the next run. */
  const size_t* nodes;
  size_t node_count;
  TrvString kernel; /* what ran it: a name for reports */
  int64_t start_ns; /* nanoseconds of CLOCK_MONOTONIC */
  int64_t end_ns;
} TrvStep;

/* Where a profiled run reports its steps. */
typedef struct TrvProfile {
  void* user;
  /* Once for each step, in the order in which they ran, before run_profiled returns. */
  void (*step)(void* user, const TrvStep* step);
} TrvProfile;

typedef struct TrvProvider {
  uint32_t abi_version; /* TRV_PROVIDER_ABI_VERSION it was built with */
  uint32_t size;        /* sizeof(TrvProvider) of the provider */
  const char* name;     /* as in --provider */
  const char* description;

  /* Whether the engine can be used on this machine; the error says why not. */
  int32_t (*check)(const TrvHost* host, TrvError* error);
  /* Sets claimed[i] to 1 for each node i that the provider can run. */
  int32_t (*claim)(const TrvHost* host, const TrvGraph* graph, uint8_t* claimed, TrvError* error);
  /* `graph` holds claimed nodes only. It is valid during the call. */
  int32_t (*compile)(const TrvHost* host, const TrvGraph* graph, const TrvCompileOptions* options,
                     TrvCompiled** compiled, TrvError* error);
  /* Inputs and outputs are in the order of the graph's. One call at a time for one TrvCompiled. */
  int32_t (*run)(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                 TrvError* error);
  void (*destroy)(TrvCompiled* compiled);
  /* Writes what there is to say of what was compiled, as one JSON object: kernels per node, bytes
   * of arena and packed weights. May be null. */
  int32_t (*describe)(const TrvCompiled* compiled, TrvWrite write, void* user, TrvError* error);

  /* From here on a table may end, as `size` says. */

  /* As run, and reports what each step took. What a subgraph runs belongs to the step of its node.
   * May be null: the session then sees the compiled graph as one step. */
  int32_t (*run_profiled)(TrvCompiled* compiled, const TrvTensor* inputs, const TrvOutputs* outputs,
                          const TrvProfile* profile, TrvError* error);

  /* Makes ready for inputs of these types and shapes (`data` is null), so that the first run need
   * not; takes the memory that such runs take. May be null. */
  int32_t (*prepare)(TrvCompiled* compiled, const TrvTensor* inputs, TrvError* error);
} TrvProvider;

/* The one symbol that a provider's library exports; null when it does not speak `abi_version`. */
typedef const TrvProvider* (*TrvGetProvider)(uint32_t abi_version);
#define TRV_GET_PROVIDER_SYMBOL "trv_get_provider"

#ifdef __cplusplus
}
#endif

#endif /* TRIVET_PROVIDER_H_ */
