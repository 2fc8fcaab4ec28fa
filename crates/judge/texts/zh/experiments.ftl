### Findings and conclusions on searches, comparisons and sweeps. A remedy is an attribute of its message.

## Parts of sentences

at-load = { $name }（负载 { $load }）
doubts = { $first }{ $second }

## Comparisons

comparison-failed = { $reason }。
    .beyond = { $sentence }{ $loads }，超过 { $margin }
comparison-undecided =
    .remedy-repeat = 大约 { $all } 次重复可得出结论
    .remedy-longer = 差异太小，{ $all } 次以内的重复无法得出结论；请延长每次试验的时间，或把更大的差异视为相当（--smallest）
    .remedy-resume = 使用 --resume 继续

# Which of two contenders is better. The kind is that of the figure.
comparison-better = { $kind ->
    [time] { $winner } 比 { $loser } 更快{ $loads }（{ $evidence }）
    [throughput] { $winner } 的吞吐量比 { $loser } 更高{ $loads }（{ $evidence }）
    [errors] { $winner } 比 { $loser } 更可靠{ $loads }（{ $evidence }）
    [capacity] { $winner } 的容量比 { $loser } 更高{ $loads }（{ $evidence }）
   *[cpu] { $winner } 比 { $loser } 更省 CPU{ $loads }（{ $evidence }）
}
    .by = { $kind ->
        [time] { $winner } 比 { $loser } 快 { $size }{ $loads }（{ $evidence }）
        [throughput] { $winner } 的吞吐量比 { $loser } 高 { $size }{ $loads }（{ $evidence }）
        [errors] { $winner } 的错误比 { $loser } 少 { $size }{ $loads }（{ $evidence }）
        [capacity] { $winner } 的容量比 { $loser } 高 { $size }{ $loads }（{ $evidence }）
       *[cpu] { $winner } 比 { $loser } 省 CPU { $size }{ $loads }（{ $evidence }）
    }
    .by-at-highest = { $kind ->
        [time] { $winner } 比 { $loser } 更快{ $loads }，相差 { $size }{ $highest }（{ $evidence }）
        [throughput] { $winner } 的吞吐量比 { $loser } 更高{ $loads }，相差 { $size }{ $highest }（{ $evidence }）
        [errors] { $winner } 比 { $loser } 更可靠{ $loads }，错误相差 { $size }{ $highest }（{ $evidence }）
        [capacity] { $winner } 的容量比 { $loser } 更高{ $loads }，相差 { $size }{ $highest }（{ $evidence }）
       *[cpu] { $winner } 比 { $loser } 更省 CPU{ $loads }，相差 { $size }{ $highest }（{ $evidence }）
    }
    .equal = { $kind ->
        [time] { $theirs } 与 { $ours } 同样快{ $loads }（{ $values }）
        [throughput] { $theirs } 与 { $ours } 的吞吐量相当{ $loads }（{ $values }）
        [errors] { $theirs } 与 { $ours } 同样可靠{ $loads }（{ $values }）
        [capacity] { $theirs } 与 { $ours } 的容量相当{ $loads }（{ $values }）
       *[cpu] { $theirs } 与 { $ours } 的 CPU 效率相当{ $loads }（{ $values }）
    }
    .at = （负载 { $loads }）
    .at-all = （全部 { $count } 个负载）
    .at-some = （{ $all } 个负载中的 { $count } 个）
    .at-least = 至少 { $size }
    .values = { $figure } 为 { $first }，对比 { $second }
    .values-and-interval = { $figure } 为 { $first }，对比 { $second }，95 % 置信区间 { $low } 至 { $high } %
    .with-tail = { $evidence }；{ $tail }

# All that is undecided, in one sentence.
undecided = 尚未确定：{ $clauses }。
    .few = { $pairs }：{ $count } 次重复太少
    .many = { $pairs } 组对比对象：{ $count } 次重复太少
    .pair = { $ours } 与 { $theirs }
    .pair-at-loads = { $ours } 与 { $theirs }{ $loads }
    .pair-so-far = { $ours } 与 { $theirs }{ $loads }（目前 { $values }）
    .saturation = { $pairs } 的饱和点之差：{ $count } 次重复太少
    .whether = { $kind ->
        [time] { $ours } 与 { $theirs } 哪个更快
        [throughput] { $ours } 与 { $theirs } 哪个吞吐量更高
        [errors] { $ours } 与 { $theirs } 哪个更可靠
        [capacity] { $ours } 与 { $theirs } 哪个容量更高
       *[cpu] { $ours } 与 { $theirs } 哪个更高效
    }{ $loads }（{ $values }：{ $reason }）
    .more = 另外 { $count } 组对比对象
    .limits = { $names } 的极限，因为 { $all }中有 { $disturbed } 次的数据受到了服务器以外的影响
    .remedy = 每个对比对象至少测量 { $needed } 次
    .remedy-disturbed = 在空闲的机器上重复这些试验；其判定说明了原因

# The result of one figure.
compared = { $figure }：{ $result }
    .no-data = 没有数据
    .zero = 两者均为 { $value }
    .undecided = 未定：{ $reason }
    .same = 两者相同
    .equal = 在 ±{ $margin } 之内相当：{ $range }
    .better-values = { $name } 更好：{ $theirs }，对比 { $ours }
    .worse-values = { $name } 更差：{ $theirs }，对比 { $ours }
    .better-at-least = { $name } 更好，至少相差 { $size }
    .worse-at-least = { $name } 更差，至少相差 { $size }
    .better-by = { $name } 更好，相差 { $size }（{ $low } 至 { $high }）
    .worse-by = { $name } 更差，相差 { $size }（{ $low } 至 { $high }）
    .better-between = { $name } 更好，相差 { $low } 至 { $high }
    .worse-between = { $name } 更差，相差 { $low } 至 { $high }
    .range = { $name } 介于{ $low }与{ $high }之间
    .range-from = { $name } 至少{ $low }；上界未知
    .range-to = { $name } 最多{ $high }；下界未知
    .range-unknown = { $name } 的差异未知
    .lower = 低 { $size }
    .higher = 高 { $size }
    .too-few-blocks = { $count } 个区组太少{ $so_far }
    .too-few-runs = { $ours } 次和 { $theirs } 次运行太少{ $so_far }
    .so-far = （目前 { $name } { $difference }）
    .unknown = { $figure }：并非所有对比对象都有此数据。
    .unknown-cpu = { $figure }：未知，因为没有读取服务器的 CPU 时间。

cannot-decide = { $figures }：{ $blocks }无法显示任何差异：可能的最小 p 值为 { $least }（要求：{ $required }）。至少需要 { $needed }。
    .alone = { $figures }：只有在发现 { $first } 有差异时，{ $blocks }才能得出结论；单独判断需要 { $needed } 个区组（水平 { $level }）。
    .sweep = { $count } 次重复无法确定哪个对比对象更好；请写 --repeat { $needed }（在计划文件中为 repetitions: { $needed }）。
    .runs = { $figure }：运行太少，无法显示任何差异：可能的最小 p 值为 { $least }（要求：{ $required }）。每一方至少需要 { $needed } 次运行。

excluded-run = { $contender } 的一次运行被排除：{ $reason }。
    .trial = { $contender } 的第 { $repetition } 次重复{ $loads }连同其区组被排除：{ $reason }。
    .unknown-contender = 一个对比对象
    .load-missing = 大部分负载缺失
    .invalid = 一致性检查失败
    .cut-short = 提前结束
    .capacity = { $contender } 在第 { $repetition } 次重复中的容量未知：其区组被排除。
    .capacities = { $all } 次搜索中有 { $count } 次没有得出 { $contender } 的容量：{ $reason }。
    .capacities-raise-load = { $all } 次搜索中有 { $count } 次没有得出 { $contender } 的容量：{ $reason }；请提高该负载（--max-load，计划中为 find.max_load）。
    .capacities-raise-time = { $all } 次搜索中有 { $count } 次没有得出 { $contender } 的容量：{ $reason }；请提高时间预算（--time-budget，计划中为 find.time_budget）。
    .disturbed = { $contender } 的 { $all } 次试验中有 { $count } 次，{ $state }。
    .disturbed-with-cause = { $contender } 的 { $all } 次试验中有 { $count } 次，{ $state }：{ $cause }。

# Facts that differ between contenders.
fact-differs = { $fact }：{ $first } 为 { $ours }，{ $other } 为 { $theirs }。
    .first-unknown = { $fact }：{ $other } 为 { $theirs }，{ $first } 未知。
    .other-unknown = { $fact }：{ $first } 为 { $ours }，{ $other } 未知。

fact =
    .kernel = 内核
    .cpu = CPU
    .cores = 核数
    .server = 服务器软件
    .data-file = { $file } 的内容
    .limit = 限制 { $name }
    .setting = 内核参数 { $name }
    .place = 服务器的位置
    .interface = 网络接口
    .link = 链路速度，bit/s
    .packet = 最大数据包，字节
    .accept-queue = accept 队列
    .open-files = 服务器的打开文件数上限
    .protocol = 协议
    .requests = 请求
    .requests-per-connection = 每个连接的请求数
    .proxy = 代理
    .load = 负载
    .warm-up = 预热
    .measured-time = 测量时间
    .timeout = 超时
    .redirects = 重定向次数上限
    .threads = 线程数
    .reading = 读取速度
    .data-files = 数据文件
    .statuses = 状态码
    .reply-bytes = 每个响应的字节数，头部和正文

fact-value =
    .same-machine = brunt 所在的机器
    .other-machine = 另一台机器
    .no-limit = 不限
    .unlimited = 不限
    .bytes-per-second = { $rate } 字节/s
    .none = 无
    .nothing = 无
    .and-more = { $request } 及另外 { $count } 个
    .piece-every = { $request }，每 { $time } 一段
    .piece-after-reply = { $request }，每个响应之后一段
    .closed-loop = 闭环
    .closed-loop-thinking = 闭环，思考时间 { $seconds } s
    .open-loop = 开环，{ $spacing }
    .open-loop-with-connections = 开环，{ $spacing }，最多 { $connections } 个连接
    .even = 均匀
    .bursts = 突发，每次 { $size } 个
    .uniform = 在 { $share } % 之内均匀分布

## Sweeps

incomplete =
    .remedy = 完成实验
    .experiment = 实验不完整：计划 { $planned } 次试验，已完成 { $trials } 次。
different-loads = 各对比对象的负载种类不同，因此无法比较它们的极限。
few-repetitions = 95 % 置信区间需要 { $needed } 次重复（现有 { $have } 次）；这里显示其范围。
    .one = 只有一次重复，无法看出各次运行之间的差异；95 % 置信区间需要 { $needed } 次。
    .remedy = 增加重复次数
few-loads = { $count } 个负载不足以确定拐点或饱和点。
    .remedy = 使用 { $needed } 个或更多负载，从远低于极限到超过极限

sweep-limits = { $contender }：{ $limits }。
    .saturation = 吞吐量在 { $rate } 处饱和
    .saturation-of-good = 有效吞吐量在 { $rate } 处饱和
    .saturation-with-bottleneck = 吞吐量在 { $rate } 处饱和（{ $bottleneck }）
    .knee = 响应时间在负载 { $load } 处出现拐点
    .peak = 吞吐量在负载 { $load } 处达到峰值 { $rate }
    .holds = 直到负载 { $load }，{ $objective } 均成立
    .met = 在负载 { $load } 下满足 { $objective }
    .missed = 在负载 { $load } 下未满足 { $objective }
    .missed-at-lowest = 在最低负载 { $load } 下已未满足 { $objective }
    .errors = 在负载 { $load } 下 { $share } 的请求失败
    .none = { $contender }：直到 { $load } 未见极限。
    .remedy-excluded = { $advice }；这些试验的判定说明了原因：brunt report ID
    .remedy = 扩大负载范围；每个极限都说明了方向

sweep-further = 提高最高负载
    .one-excluded = 在其上方有 1 次试验被排除：请重新测量该负载
    .excluded = 在其上方有 { $trials } 次试验被排除：请重新测量这些负载

saturation-difference = { $best } 在 { $most } 处饱和，{ $other } 在 { $less } 处：相差 { $share }（{ $test }）。
    .none = { $best } 在 { $most } 处饱和，{ $other } 在 { $less } 处：没有显著差异（{ $test }）。
    .test = p = { $p }，按 { $ours } 次和 { $theirs } 次重复的秩

sweep-bottleneck =
    .not-found = 未找到 { $contender } 的瓶颈：{ $bottleneck }。
    .generator = 瓶颈是负载生成器，而不是 { $contender }：{ $bottleneck }。
    .nearest = { $contender } 在此范围内没有饱和点；最高负载下最接近上限的是：{ $bottleneck }。

trials = { $count } 次试验
trials-left-out =
    .cut-short = { $all }中有 { $count } 次被排除：提前结束：{ $places }。
    .invalid = { $all }中有 { $count } 次被排除：一致性检查失败：{ $places }。
    .remedy = 查看这些试验的判定，然后重新测量
    .some = { $all }中的 { $count } 次（{ $places }）
    .more-steps = 另外 { $count } 个步骤

trials-generator-limited = { $trials }受限于负载生成器：它们不能显示服务器的极限。
    .remedy = 查看这些试验的判定：其中说明了瓶颈
trials-busy-machine = { $trials }期间，本机繁忙，影响了测量结果。
    .with-processes = { $trials }期间，其他进程占用了本机的 CPU，影响了测量结果：{ $processes }。
    .process = { $process } 核（最高），见于 { $trials }
    .remedy = 结束这些进程，或在另一台机器上测量；如果它们属于服务器，用 --probe 读取其数据
trials-unexplained = { $trials }中请求发送延迟，原因不明。

sweep-idle-users = { $contender }：{ $load }中，同时等待响应的有 { $waiting } 个，其余用户{ $activity }。此时吞吐量由停顿决定，服务器的极限在此范围之外。
    .remedy = 缩短思考时间，或使用指定速率的开环

outliers = { $count } 个异常值。{ $first }其他：{ $places }。
    .remedy = 重复该试验，以确定是否为偶然
    .step = { $contender }：负载为 { $load } 时吞吐量为 { $rate }，而相邻负载为 { $neighbors }。请重新测量该步骤。
    .repetition-throughput = { $contender }：负载为 { $load } 时，第 { $repetition } 次重复的吞吐量为 { $value }，而各次重复的中位数为 { $median }。请重新测量。
    .repetition-time = { $contender }：负载为 { $load } 时，第 { $repetition } 次重复的平均响应时间为 { $value }，而各次重复的中位数为 { $median }。请重新测量。

not-robust = { $contender } 的{ $limit }不稳健：去掉范围的上三分之一后，它移动一个步骤以上，或者消失。
    .remedy = 进行一次超出该点更多的负载扫描

throughput-falls = { $contender }：过载时吞吐量下降，从负载 { $peak } 时的 { $most } 降至负载 { $highest } 时的 { $last }。
    .remedy = 将负载保持在峰值以下；限制服务器的队列长度

# Definitions of limits: their names, and how each was found.
load-limit =
    .kept = 实现 99 % 的负载
    .asymptotes = 达到最大吞吐量的用户数
    .kept-how = 直到该负载，施加负载都至少实现了 99 %。
    .errors-how = 直到该负载，每个负载下失败的请求都少于 1 %。
    .objective-how = 直到该负载，每个负载下都有超过一半的试验达到此目标。
    .nowhere = 在最低的负载下就未达到；请降低最低负载。
    .throughout = 未观察到：在最高的负载 { $load } 下仍然成立；{ $advice }。
    .unknown = 未知：没有试验有此数据。
    .doubt-repetitions = 单独看各次重复，{ $share } 没有这样的点。
    .doubt-draws = { $share } 的重抽样中没有这样的点。

limit-knee =
    .method = 对{ $response }的对数使用 Kneedle，经单调化处理，{ $range }。{ $doubts }
    .method-of-both = 对{ $response }和负载的对数使用 Kneedle，经单调化处理，{ $range }。{ $doubts }
    .few-loads = 未计算：需要 { $needed } 个有响应时间的负载（现有 { $have } 个）。{ $doubts }
    .flat = 未观察到：在最高的负载下，{ $response }只是最低负载时的 { $rise } 倍，{ $range }；{ $advice }。{ $doubts }
    .rises = 没有：{ $response }上升到 { $rise } 倍，{ $range }，但没有哪一处比之前更陡；请扫描更低的负载。{ $doubts }
    .range = 从 { $low } 到 { $high }（{ $count } 个负载）
    .response = 响应时间
    .mean = 平均响应时间
    .not-robust = 不稳健：去掉范围的上三分之一后，它在别处，或者消失。

limit-saturation =
    .peak = 没有：吞吐量在负载 { $load } 处达到峰值 { $rate }，在更高的负载下低得多。{ $doubt }
    .ends = 吞吐量随负载增长，直到 { $load } 为止（对 min(斜率 · 负载, 平台值) 的最小绝对偏差拟合）。{ $doubt }
    .flat = 在最低的负载 { $load } 下吞吐量已经饱和；请降低最低负载。{ $doubt }
    .continues = 未观察到：在最高的负载 { $load } 下吞吐量仍在增长（或只有一个负载没有增长）；{ $advice }。{ $doubt }
    .unknown = 未计算：需要多个负载。{ $doubt }
    .asymptotes = { $rate } ·（{ $least } + 思考时间 { $think }）：超过该值，用户互相等待。
    .asymptotes-none = 没有：吞吐量没有平台。
    .asymptotes-beyond = 未观察到：在最高的负载下吞吐量仍在增长；{ $advice }。

scalability-caution =
    .one-value = 按 { $low } 至 { $high }拟合，每个负载只有一个值：κ 的区间未知。请勿外推。
    .no-peak = 按 { $low } 至 { $high }拟合；κ 可能为 0，因此峰值未知。请勿外推。
    .peak-beyond = 按 { $low } 至 { $high }拟合；峰值可能在此范围之外。请勿外推。
    .peak-within = 按 { $low } 至 { $high }拟合，峰值在此范围之内。超出此范围时只是公式。

# Readings of a server that were examined for its bottleneck.
reading =
    .busy-cores = 忙碌的核，占比
    .swapped = 每秒从交换区读回的字节数
    .memory-available = 可用内存，占比
    .link-sent = { $nic } 发送，占链路速度的比例
    .link-received = { $nic } 接收，占链路速度的比例
    .dropped = { $nic } 丢弃的数据包，占比
    .workers = 忙碌的工作进程或线程，占比
    .connections = 连接，占上限的比例
    .accept-queue = accept 队列，占用比例

## Methods

method-of-run =
    .steady = 对 { $count } 个点的吞吐量和 p50 使用 MSER-5，对后半段使用 sup-Wald 检验，并作趋势检验
    .interval = 有效样本量的次序统计量
    .interval-from-blocks = 有效样本量的次序统计量，取自 { $blocks } 个数据块，每块 { $points } 个点
    .no-blocks = 本次运行没有 { $needed } 个互相独立的数据块
    .too-short = 本次运行的长度为 { $times } 个相关时间，需要 { $needed } 个
    .groups = 占比差异的 t 检验，取自 { $blocks } 个数据块，每块 { $intervals } 个时段
